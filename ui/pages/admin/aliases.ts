import type { Paginated } from '../../../src/domain/pagination.ts'
import type { AliasView } from '../../../src/modules/aliases/service.ts'
import { badge, visibilityBadge } from '../../components/badge.ts'
import { button, linkButton } from '../../components/button.ts'
import { card } from '../../components/card.ts'
import { emptyState } from '../../components/empty-state.ts'
import { field, fieldError, formError, hidden } from '../../components/field.ts'
import { pagination } from '../../components/pagination.ts'
import { shortSha } from '../../components/sha.ts'
import { type Column, table } from '../../components/table.ts'
import { time } from '../../components/time.ts'
import { type Html, html } from '../../html.ts'
import type { Failed } from '../../project-request.ts'
import { deploymentHref } from './deployment-table.ts'
import { type ProjectPageBase, projectFrame, projectHref } from './project-frame.ts'

type AliasesPageProps = ProjectPageBase & {
  found: Paginated<AliasView>
  hasDeployments: boolean
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
    },
    html`
      ${props.found.pagination.total === 0 ? nothing(props) : list(props)}
      ${props.can.moveAliases && props.hasDeployments && newAlias(props)}
    `,
  )

const list = ({ project, found }: AliasesPageProps): Html => html`
  ${table<AliasView>({ caption: 'Aliases', rows: found.data, columns: COLUMNS })}
  ${pagination({
    ...found.pagination,
    hrefOf: (to) => projectHref(project.id, `/aliases?page=${to}`),
  })}
`

const nothing = ({ project, can, hasDeployments }: AliasesPageProps): Html =>
  emptyState(
    {
      icon: 'projects',
      title: 'No aliases yet',
      text: hasDeployments
        ? 'Point an alias at a deployment to make the deployment live at the alias’s address.'
        : 'An alias points at a deployment, so publish one first. You can name the alias while publishing.',
    },
    !hasDeployments &&
      can.publish &&
      linkButton({ label: 'Publish', href: projectHref(project.id, '/publish') }),
  )

function newAlias({ failed }: AliasesPageProps): Html {
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
          name: 'commitSha',
          label: 'Commit',
          hint: 'The commit of a deployment: at least its first 7 digits.',
          value: failed?.values['commitSha'],
          error: fieldError(failed?.error, 'commitSha'),
          verbatim: true,
        })}
        <div>${button({ label: 'Create alias' })}</div>
      </form>
    `,
  )
}

/** Its name, its address and what it shows. */
export const ALIAS_COLUMNS: Column<AliasView>[] = [
  {
    label: 'Alias',
    cell: (alias) => html`
      <a href=${aliasHref(alias.projectId, alias.id)}><strong>${alias.name}</strong></a>
      ${alias.isLocked && badge('Locked', 'warn')}
    `,
  },
  {
    label: 'Address',
    cell: (alias) => html`<a href=${alias.url}>${alias.url.replace(/^https?:\/\//, '')}</a>`,
  },
  {
    label: 'Commit',
    cell: (alias) =>
      html`<a href=${deploymentHref(alias.projectId, alias.deploymentId)}>${shortSha(alias.commitSha)}</a>`,
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
