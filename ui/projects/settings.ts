import { INDEXINGS, type Indexing } from '../../src/domain/indexing.ts'
import { PROJECT_ROLES } from '../../src/domain/roles.ts'
import type { Settings } from '../../src/modules/settings/service.ts'
import { spaWord } from '../aliases/alias.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import {
  checkbox,
  type FormError,
  field,
  fieldError,
  formError,
  hidden,
  selectField,
} from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { htmlHandlingField, htmlHandlingWord } from '../components/html-handling.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { typedWord } from '../components/typed-word.ts'
import type { PageUser } from '../components/user-menu.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'

type ProjectSettingsPageProps = ProjectPageBase & {
  /** The workspace's settings. They determine the effect of some project settings. */
  settings: Settings
  failed?: Failed | undefined
}

/** Sends `general`, `visibility`, `signup`, `transfer` (`email`, `confirm`) or `delete` (`confirm`). */
export const projectSettingsPage = (props: ProjectSettingsPageProps): Html =>
  projectFrame(
    props,
    { tab: 'settings', title: 'Settings' },
    html`
      ${general(props)} ${addresses(props)} ${releaseChecks(props)} ${visibility(props)} ${signup(props)} ${props.can.transfer && transfer(props)}
      ${props.can.deleteProject && removal(props)}
    `,
  )

const errorOf = ({ failed }: ProjectSettingsPageProps, intent: string): FormError | undefined =>
  failed?.intent === intent ? failed.error : undefined

const typedIn = ({ failed }: ProjectSettingsPageProps, intent: string, name: string): string | undefined =>
  failed?.intent === intent ? failed.values[name] : undefined

function general(props: ProjectSettingsPageProps): Html {
  const { project } = props
  const error = errorOf(props, 'general')
  return card(
    { id: 'general', title: 'General', about: `${project.owner}/${project.name}` },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'general')}
        ${field({
          name: 'displayName',
          label: 'Display name',
          value: typedIn(props, 'general', 'displayName') ?? project.displayName,
          error: fieldError(error, 'displayName'),
          maxlength: 200,
        })}
        ${selectField({
          name: 'isSpa',
          label: 'Unknown addresses',
          hint: 'A single-page app answers them with its 200.html or index.html.',
          value: typedIn(props, 'general', 'isSpa') ?? (project.isSpa === null ? '' : String(project.isSpa)),
          options: [
            { value: '', label: roleLabel(spaWord(null)) },
            { value: 'true', label: 'Show its page: a single-page app' },
            { value: 'false', label: 'Show the 404 page' },
          ],
        })}
        ${field({
          name: 'previewDays',
          label: 'Days a preview stays',
          hint: 'After each publish, unless the upload says how long: 1 to 365.',
          value: typedIn(props, 'general', 'previewDays') ?? String(project.previewDays),
          error: fieldError(error, 'previewDays'),
          type: 'number',
        })}
        <div>${button({ label: 'Save' })}</div>
      </form>
    `,
  )
}

const INDEXING: Record<Indexing, string> = {
  production: 'Production and domains, not previews',
  all: 'Everything, previews too',
  none: 'Nothing',
}

function addresses(props: ProjectSettingsPageProps): Html {
  const { project } = props
  const error = errorOf(props, 'addresses')
  return card(
    {
      id: 'addresses',
      title: 'Addresses',
      about: 'For all its sites. An alias may spell its pages otherwise.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'addresses')}
        ${htmlHandlingField({
          value: typedIn(props, 'addresses', 'htmlHandling') ?? project.htmlHandling ?? '',
          unset: htmlHandlingWord(null),
          error: fieldError(error, 'htmlHandling'),
        })}
        ${selectField({
          name: 'indexing',
          label: 'Search engines may list',
          hint: 'Other answers carry X-Robots-Tag: noindex.',
          value: typedIn(props, 'addresses', 'indexing') ?? project.indexing,
          error: fieldError(error, 'indexing'),
          options: INDEXINGS.map((name) => ({ value: name, label: INDEXING[name] })),
        })}
        <div>${button({ label: 'Save', accessibleName: 'Save the addresses' })}</div>
      </form>
    `,
  )
}

const releaseChecks = ({ project }: ProjectSettingsPageProps): Html =>
  card(
    {
      id: 'release-checks',
      title: 'Release checks',
      about: 'Before an upload moves an alias, its pages are looked at. If one fails, the alias stays.',
    },
    linkButton({
      label: 'Set what is checked',
      href: `/projects/${project.id}/release-checks`,
      kind: 'secondary',
    }),
  )

const RESPONSES = { not_found: 'a 404 page', login: 'the sign-in page' } as const

function visibility(props: ProjectSettingsPageProps): Html {
  const { project, settings } = props
  const workspace = RESPONSES[settings.privateSiteResponse.value]
  return card(
    {
      id: 'visibility',
      title: 'Visibility',
      about: 'For all its sites, unless an alias or a domain overrides it.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(errorOf(props, 'visibility'))} ${hidden('intent', 'visibility')}
        ${selectField({
          name: 'isPublic',
          label: 'Who sees it',
          value: String(project.isPublic),
          options: [
            { value: 'true', label: 'Public: anyone' },
            { value: 'false', label: 'Private: people with a role' },
          ],
        })}
        ${selectField({
          name: 'requiredRole',
          label: 'Required role when private',
          value: project.requiredRole,
          options: PROJECT_ROLES.map((role) => ({
            value: role,
            label: `${roleLabel(role)} or higher`,
          })),
        })}
        ${selectField({
          name: 'privateSiteResponse',
          label: 'Visitors who are not signed in get',
          value: project.privateSiteResponse ?? '',
          options: [
            { value: '', label: `Same as workspace: ${workspace}` },
            { value: 'not_found', label: roleLabel(RESPONSES.not_found) },
            { value: 'login', label: roleLabel(RESPONSES.login) },
          ],
        })}
        <div>${button({ label: 'Save', accessibleName: 'Save the visibility' })}</div>
      </form>
    `,
  )
}

/** Only administrators can open it. */
const membershipSettings = ({ role }: PageUser): Content =>
  role === 'admin'
    ? html`<a href="/admin/settings/auth">Settings, Project Membership</a>`
    : 'Settings, Project Membership'

function signup(props: ProjectSettingsPageProps): Html {
  const { project, settings } = props
  return card(
    {
      id: 'signup',
      title: 'Membership and sign-up',
      about: 'Whether anyone may become a guest on the sites of this project.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(errorOf(props, 'signup'))} ${hidden('intent', 'signup')}
        ${
          !settings.requireProjectMembership.value &&
          notice({
            tone: 'info',
            message: html`Membership is not required in this workspace, so this switch has no effect. An administrator can require it under ${membershipSettings(props.user)}.`,
          })
        }
        ${checkbox({
          name: 'allowPublicSignup',
          label: 'Anyone may sign up',
          hint: 'Whoever signs up gets the role guest. Otherwise people need an invitation.',
          checked: project.allowPublicSignup,
        })}
        <div>${button({ label: 'Save', accessibleName: 'Save the sign-up' })}</div>
      </form>
    `,
  )
}

function transfer(props: ProjectSettingsPageProps): Html {
  const error = errorOf(props, 'transfer')
  return card(
    {
      id: 'transfer',
      title: 'Transfer ownership',
      about: 'The new owner must have a role or a membership here. The previous owner becomes an admin.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'transfer')}
        ${field({
          name: 'email',
          id: 'transfer-email',
          label: 'Email of the new owner',
          type: 'email',
          value: typedIn(props, 'transfer', 'email'),
          error: fieldError(error, 'email'),
        })}
        ${typedField(props, 'transfer', error)}
        <div>${button({ label: 'Transfer the ownership', kind: 'danger' })}</div>
      </form>
    `,
  )
}

function removal(props: ProjectSettingsPageProps): Html {
  const error = errorOf(props, 'delete')
  return card(
    {
      id: 'removal',
      title: 'Delete the project',
      about:
        'This deletes every deployment, alias, rule, record and key. The addresses stop working. This cannot be undone.',
    },
    html`
      <form method="post" class="stack narrow">
        ${formError(error)} ${hidden('intent', 'delete')}
        ${typedField(props, 'delete', error)}
        <div>${button({ label: 'Delete the project', kind: 'danger' })}</div>
      </form>
    `,
  )
}

const typedField = (props: ProjectSettingsPageProps, intent: string, error: FormError | undefined): Html =>
  typedWord({
    id: `${intent}-confirm`,
    word: `${props.project.owner}/${props.project.name}`,
    typed: typedIn(props, intent, 'confirm'),
    error,
  })
