import { PROJECT_ROLES, type ProjectRole } from '../../src/domain/roles.ts'
import type { Explanation } from '../../src/modules/members/explain.ts'
import { actionWords, roleFor } from '../components/action-words.ts'
import { badge } from '../components/badge.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { confirmDialog } from '../components/confirm.ts'
import { details } from '../components/details.ts'
import { fieldError, hidden, lineError } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { roleLabel } from '../components/role.ts'
import { type Column, table } from '../components/table.ts'
import { day } from '../components/time.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'
import { roleField } from './people.ts'

type PersonPageProps = ProjectPageBase & { person: Explanation; failed?: Failed | undefined }

/** What one person may do in the project, and why. Sends `grant` with `role`, `revoke`, or `remove`. */
export const personPage = (props: PersonPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'people',
      title: props.person.user.email,
      crumbs: [{ label: 'People', href: projectHref(props.project.id, '/people') }],
    },
    html`
      ${
        props.failed !== undefined &&
        props.failed.intent !== 'grant' &&
        notice({ tone: 'bad', message: props.failed.error.message, live: true })
      }
      ${standing(props)} ${sources(props)} ${props.can.managePeople && !isOwner(props) && change(props)}
      ${actions(props)}
    `,
  )

const directRole = ({ person }: PersonPageProps) =>
  person.sources.find(({ kind }) => kind === 'permission')?.role

const isOwner = (props: PersonPageProps): boolean => directRole(props) === 'owner'

const standing = ({ person }: PersonPageProps): Html =>
  card(
    { id: 'standing', title: 'Access' },
    details([
      ['Role here', person.effectiveRole === null ? 'None' : roleLabel(person.effectiveRole)],
      ['In the workspace', roleLabel(person.user.role)],
      ['Member', person.membership.joinedAt === null ? 'No' : html`Since ${day(person.membership.joinedAt)}`],
      ['Sees the site', `${person.site.mayView ? 'Yes' : 'No'}. ${person.site.reason}.`],
    ]),
  )

type Source = Explanation['sources'][number]

const sources = ({ person }: PersonPageProps): Html =>
  card(
    { id: 'sources', title: 'Where the role comes from', about: 'The highest counts.' },
    person.sources.length === 0
      ? html`<p class="muted">Nothing gives this person a role here.</p>`
      : table<Source>({ caption: 'Sources', rows: person.sources, columns: SOURCE_COLUMNS }),
  )

const SOURCE_COLUMNS: Column<Source>[] = [
  { label: 'Source', cell: sourceName },
  { label: 'Role', cell: ({ role }) => roleLabel(role) },
  { label: 'Since', cell: ({ grantedAt }) => day(grantedAt, 'Always') },
]

function sourceName({ kind, name }: Source): string {
  if (kind === 'global_role') return 'Workspace administrator'
  return kind === 'group' ? `The group ${name ?? ''}` : 'Their own role on this project'
}

function change(props: PersonPageProps): Html {
  const { person, failed } = props
  const error = failed?.intent === 'grant' ? failed.error : undefined
  const direct = directRole(props)
  return card(
    { id: 'change', title: 'Change the role' },
    html`
      ${lineError(error)}
      <form method="post" class="inline-form">
        ${hidden('intent', 'grant')}
        ${roleField('role', failed?.values['role'] ?? direct, fieldError(error, 'role'))}
        ${button({ label: 'Save' })}
      </form>
      <div class="actions">
        ${
          direct !== undefined &&
          confirmDialog(
            {
              id: 'revoke-role',
              opener: 'Remove the role',
              openerKind: 'secondary',
              title: `Remove the role of ${person.user.email}?`,
              text: 'They stay a member and keep the access their groups give them.',
              confirm: 'Remove it',
            },
            hidden('intent', 'revoke'),
          )
        }
        ${
          (direct !== undefined || person.membership.isMember) &&
          confirmDialog(
            {
              id: 'remove-person',
              opener: 'Remove from the project',
              openerKind: 'danger',
              title: `Remove ${person.user.email}?`,
              text: 'They lose their role and membership but keep the access their groups give them.',
              confirm: 'Remove',
            },
            hidden('intent', 'remove'),
          )
        }
      </div>
    `,
  )
}

type Action = Explanation['actions'][number]

/** The actions that need the same role: either all are allowed or none. */
type RoleActions = { role: ProjectRole; actions: Action[] }

const actions = ({ person }: PersonPageProps): Html =>
  card(
    { id: 'actions', title: 'What this allows' },
    table<RoleActions>({
      caption: 'Actions',
      rows: PROJECT_ROLES.map((role) => ({
        role,
        actions: person.actions.filter(({ action }) => roleFor(action) === role),
      })),
      columns: [
        { label: 'Needs the role', cell: ({ role }) => roleLabel(role) },
        {
          label: 'Actions',
          cell: ({ actions }) =>
            html`<ul>${actions.map(({ action }) => html`<li>${actionWords(action)}</li>`)}</ul>`,
        },
        {
          label: 'Allowed',
          cell: ({ actions }) =>
            actions.every(({ allowed }) => allowed) ? badge('Yes', 'good') : badge('No'),
        },
      ],
    }),
  )
