import { type Paginated, pageOfRows } from '../../src/domain/pagination.ts'
import type { RequestView } from '../../src/modules/logs/requests.ts'
import type { ProjectStorage, Storage } from '../../src/modules/storage/service.ts'
import { badge } from '../components/badge.ts'
import { buttonClass } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { type FormError, field, fieldError, formError, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { progress } from '../components/progress.ts'
import { searchForm } from '../components/search-form.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { quotaText } from '../retention/quota.ts'
import { durationText } from '../rules/runs-table.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type StoragePageProps = WorkspacePageBase & { storage: Storage; page: number }

const PER_PAGE = 50

/** The storage that each project uses, and the free disk space. */
export const storagePage = (props: StoragePageProps): Html => {
  const { storage } = props
  const used = storage.totalBytes - storage.freeBytes
  const { rows, ...place } = pageOfRows(storage.projects, props.page, PER_PAGE)
  return workspaceFrame(
    props,
    { place: 'storage', title: 'Storage', about: html`Measured ${time(storage.measuredAt)}.` },
    html`
      ${card(
        { id: 'disk', title: 'Disk' },
        html`
          ${progress({
            id: 'used',
            label: 'Used by everything on this disk',
            value: used,
            max: storage.totalBytes,
            text: `${formatSize(used)} of ${formatSize(storage.totalBytes)}`,
          })}
          ${details([
            ['Free', formatSize(storage.freeBytes)],
            ['Must stay free', storage.floorBytes > 0 && formatSize(storage.floorBytes)],
            ['Data folder', formatSize(storage.diskBytes)],
            [
              'Stored files',
              `${formatCount(storage.contents)}, together ${formatSize(storage.contentBytes)}`,
            ],
            [
              'Copies of the object store',
              storage.store !== null &&
                `${formatSize(storage.store.cacheBytes)}, at most ${formatSize(storage.store.cacheLimitBytes)}`,
            ],
          ])}
        `,
      )}
      ${card(
        {
          id: 'projects',
          title: 'Projects',
          about:
            'Published: every file of every deployment. Stored: files shared by several deployments count once.',
        },
        storage.projects.length === 0
          ? html`<p class="muted">No projects yet.</p>`
          : html`
              ${table<ProjectStorage>({ caption: 'Projects', rows, columns: STORAGE_COLUMNS })}
              ${pagination({ ...place, hrefOf: (to) => `/admin/storage${queryText({ page: to })}` })}
            `,
      )}
    `,
  )
}

const STORAGE_COLUMNS: Column<ProjectStorage>[] = [
  {
    label: 'Project',
    cell: (row) => html`<a href=${projectHref(row.projectId)}>${row.owner}/${row.name}</a>`,
  },
  { label: 'Deployments', align: 'end', cell: (row) => formatCount(row.deployments) },
  { label: 'Files', align: 'end', cell: (row) => formatCount(row.files) },
  { label: 'Published', align: 'end', cell: (row) => formatSize(row.bytes) },
  { label: 'Stored', align: 'end', cell: (row) => formatSize(row.uniqueBytes) },
  {
    label: 'Quota',
    cell: (row) => html`
      <a href=${projectHref(row.projectId, '/retention#quota')}>${quotaText(row.quota) || 'None'}</a>
    `,
  },
]

/** Empty text does not filter. */
type LogFilters = { host: string; path: string; status: string; bots: string }
type LogsPageProps = WorkspacePageBase & {
  /** Null when the filters are invalid; `failed` says why. */
  found: Paginated<RequestView> | null
  /** The newest of all requests, matching or not: the tail starts after it. Null when the filters are invalid. */
  newestId: string | null
  failed?: FormError | undefined
  filters: LogFilters
}

/** Requests to all sites and to the admin. */
export const logsPage = (props: LogsPageProps): Html => {
  const { found, newestId, filters, failed } = props
  const isFiltered = Object.values(filters).some((text) => text !== '')
  return workspaceFrame(
    props,
    { place: 'logs', title: 'Requests', about: 'IP addresses, query strings and cookies are not stored.' },
    html`
      ${searchForm('Requests', logFields(props), isFiltered ? '/admin/logs' : undefined, 'Filter')}
      ${statusError(failed) === undefined && formError(failed)}
      ${newestId !== null && found?.pagination.page === 1 && logTail(newestId)}
      ${found !== null && logEntries(found, filters)}
    `,
  )
}

const logEntries = (found: Paginated<RequestView>, filters: LogFilters): Html => html`
  ${
    found.data.length === 0
      ? emptyState({
          icon: 'clock',
          title: 'Nothing found',
          text: 'No requests match. Remove a filter.',
        })
      : table<RequestView>({ caption: 'Requests', isDense: true, rows: found.data, columns: LOG_COLUMNS })
  }
  ${pagination({ ...found.pagination, hrefOf: (page) => `/admin/logs${queryText({ ...filters, page })}` })}
`

/** For the island that follows the log (islands/log-tail.js). Without scripts the list does not change. */
const logTail = (newestId: string): Html => html`
  <div class="facts" data-tail=${newestId} hidden>
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

const logFields = ({ filters, failed }: LogsPageProps): Html => html`
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
