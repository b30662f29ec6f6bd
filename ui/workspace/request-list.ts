import type { Paginated } from '../../src/domain/pagination.ts'
import type { RequestView } from '../../src/modules/logs/requests.ts'
import { badge } from '../components/badge.ts'
import { buttonClass } from '../components/button.ts'
import { emptyState } from '../components/empty-state.ts'
import { type FormError, field, fieldError, formError, selectField } from '../components/field.ts'
import { type Content, type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { searchForm } from '../components/search-form.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { queryText } from '../frame/project-request.ts'
import { durationText } from '../rules/runs-table.ts'

/** Empty text does not filter. */
export type LogFilters = { host: string; path: string; status: string; bots: string }
export type LogList<Filters extends LogFilters> = {
  /** Null when the filters are invalid; `failed` says why. */
  found: Paginated<RequestView> | null
  /** The newest of all requests, matching or not: the tail starts after it. Null when the filters are invalid. */
  newestId: string | null
  failed?: FormError | undefined
  filters: Filters
}

/** The addresses of the list and of what follows it. */
type Place = { href: string; tailHref: string }

/** Requests with their filters, `more` first, followed live by a script. */
export function logList(props: LogList<LogFilters>, { href, tailHref }: Place, more: Content = null): Html {
  const { found, newestId, filters, failed } = props
  const isFiltered = Object.values(filters).some((text) => text !== '')
  return html`
    ${searchForm('Requests', html`${more} ${logFields(props)}`, isFiltered ? href : undefined, 'Filter')}
    ${statusError(failed) === undefined && formError(failed)}
    ${newestId !== null && found?.pagination.page === 1 && logTail(newestId, tailHref, filters)}
    ${found !== null && logEntries(found, filters, href)}
  `
}

const logEntries = (found: Paginated<RequestView>, filters: LogFilters, href: string): Html => html`
  ${
    found.data.length === 0
      ? emptyState({
          icon: 'clock',
          title: 'Nothing found',
          text: 'No requests match. Remove a filter.',
        })
      : table<RequestView>({ caption: 'Requests', isDense: true, rows: found.data, columns: LOG_COLUMNS })
  }
  ${pagination({ ...found.pagination, hrefOf: (page) => `${href}${queryText({ ...filters, page })}` })}
`

/** For the island that follows the log (islands/log-tail.js). Without scripts the list does not change. */
const logTail = (newestId: string, href: string, filters: LogFilters): Html => html`
  <div class="facts" data-tail=${newestId} data-href=${`${href}${queryText({ ...filters, host: undefined, path: undefined })}`} hidden>
    <button type="button" class=${buttonClass('secondary')}>Follow live</button>
    <span class="muted" data-state></span>
    <span class="visually-hidden" aria-live="polite" data-said></span>
    <template>${table<RequestView>({ caption: 'Requests', isDense: true, rows: [BLANK], columns: LOG_COLUMNS })}</template>
  </div>
`

const BLANK: RequestView = {
  id: '',
  at: '',
  projectId: null,
  method: '',
  host: '',
  path: '',
  status: 200,
  durationMs: 0,
  sizeBytes: null,
  referrer: null,
  userAgent: '',
  bot: null,
  visitor: null,
  weight: 1,
}

const statusError = (failed: FormError | undefined): string | undefined => fieldError(failed, 'status')

const logFields = ({ filters, failed }: LogList<LogFilters>): Html => html`
  ${logField('host', 'Host', filters)} ${logField('path', 'Path', filters)}
  ${field({
    name: 'status',
    label: 'Status',
    value: filters.status,
    error: statusError(failed),
    placeholder: '404 or 5xx',
    required: false,
    isPlain: true,
    verbatim: true,
  })}
  ${selectField({
    name: 'bots',
    label: 'Bots',
    value: filters.bots,
    options: [
      { value: '', label: 'With bots' },
      { value: 'false', label: 'Without bots' },
      { value: 'true', label: 'Bots only' },
    ],
  })}
`

const logField = (name: 'host' | 'path', label: string, filters: LogFilters): Html =>
  field({ name, label, value: filters[name], required: false, isPlain: true, verbatim: true })

const LOG_COLUMNS: Column<RequestView>[] = [
  {
    label: 'Request',
    cell: (row) => html`<code>${row.method} ${row.path}</code><div class="muted small">${row.host}</div>`,
  },
  { label: 'Status', cell: ({ status }) => badge(String(status), toneOf(status)) },
  {
    label: 'By',
    cell: ({ bot }) =>
      html`<span class=${bot === null ? 'muted nowrap' : 'nowrap'}>${bot ?? 'A visitor'}</span>`,
  },
  { label: 'Took', align: 'end', cell: ({ durationMs }) => durationText(durationMs) },
  { label: 'Size', align: 'end', cell: ({ sizeBytes }) => (sizeBytes === null ? '' : formatSize(sizeBytes)) },
  { label: 'When', align: 'end', cell: ({ at }) => time(at) },
]

function toneOf(status: number): 'plain' | 'good' | 'warn' | 'bad' {
  if (status >= 500) return 'bad'
  if (status >= 400) return 'warn'
  return status < 300 ? 'good' : 'plain'
}
