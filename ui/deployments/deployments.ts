import type { Paginated } from '../../src/domain/pagination.ts'
import type { DeploymentView } from '../../src/modules/deployments/service.ts'
import { linkButton } from '../components/button.ts'
import { emptyState } from '../components/empty-state.ts'
import { field, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type ProjectPageBase, projectFrame, projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { deploymentTable } from './deployment-table.ts'

/** Empty text does not filter. */
type DeploymentFilters = { branch: string; commitSha: string; alias: string }

type DeploymentsPageProps = ProjectPageBase & {
  found: Paginated<DeploymentView>
  filters: DeploymentFilters
  aliasNames: readonly string[]
}

/** All deployments of the project, newest first. */
export const deploymentsPage = (props: DeploymentsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'deployments',
      title: 'Deployments',
      about: html`<p class="muted">Each publish that changed something has a number, and is kept until somebody deletes it.</p>`,
      aside:
        props.can.publish &&
        !isEmpty(props) &&
        linkButton({ label: 'Publish', href: projectHref(props.project.id, '/publish') }),
    },
    isEmpty(props) ? nothing(props) : list(props),
  )

const isFiltered = (filters: DeploymentFilters): boolean => Object.values(filters).some((text) => text !== '')

/** True when the project has no deployments at all, regardless of the filters. */
const isEmpty = ({ filters, found }: DeploymentsPageProps): boolean =>
  !isFiltered(filters) && found.pagination.total === 0

const nothing = ({ project, can }: DeploymentsPageProps): Html =>
  emptyState(
    {
      icon: 'upload',
      title: 'Nothing is published yet',
      text: can.publish
        ? 'The first deployment appears here as soon as you publish a folder, a zip or a commit from CI.'
        : 'A contributor can publish the first deployment.',
    },
    can.publish && linkButton({ label: 'Publish', href: projectHref(project.id, '/publish') }),
  )

function list({ project, found, filters, aliasNames }: DeploymentsPageProps): Html {
  const here = projectHref(project.id, '/deployments')
  const { page, pages, total } = found.pagination
  return html`
    ${searchForm(
      'Deployments',
      html`
        ${filterField('branch', 'Branch', filters)} ${filterField('commitSha', 'Commit', filters)}
        ${selectField({
          name: 'alias',
          label: 'Live as',
          value: filters.alias,
          options: [
            { value: '', label: 'Anything' },
            ...aliasNames.map((name) => ({ value: name, label: name })),
          ],
        })}
      `,
      isFiltered(filters) ? here : undefined,
      'Filter',
    )}
    ${
      found.data.length === 0 ? html`<p class="muted">No deployments match.</p>` : deploymentTable(found.data)
    }
    ${pagination({ page, pages, total, hrefOf: (to) => here + queryText({ ...filters, page: to }) })}
  `
}

const filterField = (name: 'branch' | 'commitSha', label: string, filters: DeploymentFilters): Html =>
  field({ name, label, value: filters[name], required: false, isPlain: true, verbatim: true })
