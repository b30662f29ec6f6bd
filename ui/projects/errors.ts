import type { Failures } from '../../src/modules/analytics/failures.ts'
import { badge } from '../components/badge.ts'
import { countOf, formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { searchForm } from '../components/search-form.ts'
import { type Column, table } from '../components/table.ts'
import { formatTime, time } from '../components/time.ts'
import { type ProjectPageBase, projectFrame } from '../frame/project-frame.ts'
import { durationText } from '../rules/runs-table.ts'

export const SPANS = ['1', '7', '30'] as const
export const STATUSES = ['5xx', '4xx', 'all'] as const

type ErrorsPageProps = ProjectPageBase & {
  failures: Failures
  days: (typeof SPANS)[number]
  status: (typeof STATUSES)[number]
}

type Failure = Failures['errors'][number]

/** What failed on the sites of the project, by path. */
export const errorsPage = (props: ErrorsPageProps): Html =>
  projectFrame(
    props,
    {
      tab: 'errors',
      title: 'Errors',
      about: html`<p class="muted">Requests that the server or a backend failed, by the path that they asked for.</p>`,
    },
    html`${filters(props)} ${props.failures.total === 0 ? nothing : found(props.failures)}`,
  )

const SPAN_WORDS = { '1': 'A day', '7': 'A week', '30': '30 days' } as const
const STATUS_WORDS = {
  '5xx': 'Failures (5xx)',
  '4xx': 'Refused and not found (4xx)',
  all: 'Both',
} as const

const filters = ({ days, status }: ErrorsPageProps): Html =>
  searchForm(
    'Errors',
    html`
      ${selectField({
        name: 'days',
        label: 'Period',
        value: days,
        options: SPANS.map((value) => ({ value, label: SPAN_WORDS[value] })),
      })}
      ${selectField({
        name: 'status',
        label: 'Status',
        value: status,
        options: STATUSES.map((value) => ({ value, label: STATUS_WORDS[value] })),
      })}
    `,
    undefined,
    'Show',
  )

const nothing = emptyState({
  icon: 'check',
  title: 'No errors',
  text: 'Nothing failed in this time. Failures appear here within seconds.',
})

const found = ({ errors, total }: Failures): Html => html`
  ${table<Failure>({ caption: 'Failing paths', rows: errors, columns: COLUMNS })}
  ${total > errors.length && html`<p class="muted">The first ${errors.length} of ${countOf(total, 'path')}.</p>`}
`

const COLUMNS: readonly Column<Failure>[] = [
  { label: 'Path', cell: ({ method, path }) => html`<code>${method} ${path}</code>` },
  { label: 'Status', cell: ({ status }) => badge(String(status), status >= 500 ? 'bad' : 'warn') },
  { label: 'Requests', align: 'end', cell: ({ requests }) => formatCount(requests) },
  { label: 'Last', align: 'end', cell: ({ lastAt }) => time(lastAt) },
  { label: 'Newest', cell: samples },
]

function samples({ samples: newest }: Failure): Html {
  return html`
    <details class="more">
      <summary>${countOf(newest.length, 'request')}</summary>
      ${newest.map((one) =>
        details([
          ['When', formatTime(one.at)],
          ['Host', one.host],
          ['Took', durationText(one.durationMs)],
          ['Came from', one.referrer ?? 'unknown'],
          ['Browser', one.userAgent || 'unknown'],
        ]),
      )}
    </details>
  `
}
