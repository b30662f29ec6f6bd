import type { Paginated } from '../../src/domain/pagination.ts'
import type { RunView } from '../../src/modules/runs/service.ts'
import { emptyState } from '../components/empty-state.ts'
import { hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { ruleHref, rulesHref } from './rule-words.ts'
import { runsTable } from './runs-table.ts'

type RunsPageProps = ProjectPageBase & {
  found: Paginated<RunView>
  /** Empty text does not filter. */
  filters: { rule: string; outcome: string }
  /** The name of the rule in the filter; null if there is none or the rule was deleted. */
  ruleName: string | null
}

/** Runs of pipelines, newest first. */
export const runsPage = (props: RunsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'rules',
      title: 'Run log',
      crumbs: [{ label: 'Rules', href: rulesHref(props.project.id) }],
      about: html`<p class="muted">The last 10 000 pipeline runs, kept for 30 days.</p>`,
    },
    html`${filterForm(props)} ${props.found.pagination.total === 0 ? nothing(props) : list(props)}`,
  )

const isFiltered = ({ filters }: RunsPageProps): boolean => filters.rule !== '' || filters.outcome !== ''

function filterForm(props: RunsPageProps): Html {
  const { project, filters, ruleName } = props
  return searchForm(
    'Runs',
    html`
      ${hidden('rule', filters.rule === '' ? undefined : filters.rule)}
      ${selectField({
        name: 'outcome',
        label: 'Outcome',
        value: filters.outcome,
        options: [
          { value: '', label: 'All' },
          { value: 'answered', label: 'Answered: below 400' },
          { value: 'refused', label: 'Refused: 4xx' },
          { value: 'failed', label: 'Failed: 5xx' },
        ],
      })}
      ${
        ruleName !== null &&
        html`<p>Runs of the rule <a href=${ruleHref(project.id, filters.rule)}><code>${ruleName}</code></a></p>`
      }
    `,
    isFiltered(props) ? rulesHref(project.id, '/runs') : undefined,
    'Filter',
  )
}

const nothing = (props: RunsPageProps): Html =>
  isFiltered(props)
    ? emptyState({ icon: 'list', title: 'Nothing found', text: 'No runs match. Remove a filter.' })
    : emptyState({
        icon: 'list',
        title: 'No runs yet',
        text: 'A run appears here as soon as somebody calls a path that a pipeline answers.',
      })

const list = ({ project, found, filters }: RunsPageProps): Html => html`
  ${runsTable(project.id, found.data)}
  ${pagination({
    ...found.pagination,
    hrefOf: (to) => rulesHref(project.id, `/runs${queryText({ ...filters, page: to })}`),
  })}
`
