import { deploymentName } from '../../src/domain/deployment-name.ts'
import type { Paginated } from '../../src/domain/pagination.ts'
import type { AliasView } from '../../src/modules/aliases/service.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { badge, visibilityBadge } from '../components/badge.ts'
import { button, linkButton } from '../components/button.ts'
import { card } from '../components/card.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, fieldError, formError, hidden } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { commit } from '../components/sha.ts'
import { type Column, table } from '../components/table.ts'
import { formatTime, time } from '../components/time.ts'
import { deploymentLink } from '../deployments/deployment-table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import type { Failed } from '../frame/project-request.ts'

type AliasesPageProps = ProjectPageBase & {
  found: Paginated<AliasView>
  /** The latest deployments, as suggestions for a new alias. */
  latest: readonly DeploymentView[]
  failed?: Failed | undefined
}

export const aliasHref = (projectId: string, aliasId: string, rest = ''): string =>
  projectHref(projectId, `/aliases/${aliasId}${rest}`)

/** The addresses of the project. Sends `intent=create` with `name` and `commitSha`. */
export const aliasesPage = (props: AliasesPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'aliases',
      title: 'Aliases',
      about: html`<p class="muted">Names such as production. Each has its own address and can point at any deployment.</p>`,
      aside: mayAdd(props) && linkButton({ label: 'New alias', href: '#new-alias' }),
    },
    html`
      ${props.found.pagination.total === 0 ? nothing(props) : list(props)}
      ${mayAdd(props) && newAlias(props)}
    `,
  )

/** Without a deployment there is nothing to point at. */
const mayAdd = ({ can, latest }: AliasesPageProps): boolean => can.moveAliases && latest.length > 0

const list = ({ project, found }: AliasesPageProps): Html => html`
  ${table<AliasView>({ caption: 'Aliases', rows: found.data, columns: COLUMNS })}
  ${pagination({
    ...found.pagination,
    hrefOf: (to) => projectHref(project.id, `/aliases?page=${to}`),
  })}
`

const nothing = ({ project, can, latest }: AliasesPageProps): Html =>
  emptyState(
    {
      icon: 'projects',
      title: 'No aliases yet',
      text:
        latest.length > 0
          ? 'Point an alias at a deployment to make the deployment live at the alias’s address.'
          : 'An alias points at a deployment, so publish one first. You can name the alias while publishing.',
    },
    latest.length === 0 &&
      can.publish &&
      linkButton({ label: 'Publish', href: projectHref(project.id, '/publish') }),
  )

function newAlias({ latest, failed }: AliasesPageProps): Html {
  return card(
    { id: 'new-alias', title: 'New alias' },
    html`
      <form method="post" class="stack narrow">
        ${formError(failed?.error)} ${hidden('intent', 'create')}
        ${field({
          name: 'name',
          label: 'Name',
          hint: 'Letters, digits, hyphens and underscores.',
          placeholder: 'staging',
          value: failed?.values['name'],
          error: fieldError(failed?.error, 'name'),
          verbatim: true,
        })}
        ${field({
          name: 'deployment',
          label: 'Deployment',
          hint: 'Choose one of the latest, or type the number of any, such as #12, or at least the first 7 digits of its commit.',
          value: failed?.values['deployment'] ?? (latest[0] && `#${latest[0].number}`),
          error: fieldError(failed?.error, 'deployment'),
          verbatim: true,
          list: 'deployments',
        })}
        <datalist id="deployments">${latest.map(suggestion)}</datalist>
        <div>${button({ label: 'Create alias' })}</div>
      </form>
    `,
  )
}

const suggestion = ({ branch, createdAt, ...named }: DeploymentView): Html => {
  const words = [deploymentName(named), formatTime(createdAt), branch].filter((part) => part !== null)
  return html`<option value=${`#${named.number}`} label=${words.join(', ')}></option>`
}

/** Its name, its address and what it shows. */
export const ALIAS_COLUMNS: Column<AliasView>[] = [
  {
    label: 'Alias',
    cell: (alias) => html`
      <a href=${aliasHref(alias.projectId, alias.id)}><strong>${alias.name}</strong></a>${' '}
      ${alias.isPreview && badge('Preview', 'info')} ${alias.isLocked && badge('Locked', 'warn')}
    `,
  },
  {
    label: 'Address',
    cell: (alias) => html`<a href=${alias.url}>${alias.url.replace(/^https?:\/\//, '')}</a>`,
  },
  {
    label: 'Deployment',
    cell: (alias) => html`
      <div class="clip">${deploymentLink(alias.projectId, alias)}</div>
      <div class="muted small">${commit(alias.commitSha)}</div>
    `,
  },
]

const COLUMNS: Column<AliasView>[] = [
  ...ALIAS_COLUMNS,
  {
    label: 'Visibility',
    cell: (alias) => (alias.isPublic === null ? 'Same as project' : visibilityBadge(alias.isPublic)),
  },
  { label: 'Changed', align: 'end', cell: (alias) => time(alias.updatedAt) },
]
