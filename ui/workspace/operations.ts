import { pageOfRows } from '../../src/domain/pagination.ts'
import type { ProjectStorage, Storage } from '../../src/modules/storage/service.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { progress } from '../components/progress.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'
import { quotaText } from '../retention/quota.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'
import { type LogFilters, type LogList, logList } from './request-list.ts'

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
            'Published: every file of every deployment. Uploaded: what visitors and pipelines stored. Stored: each content once.',
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
  { label: 'Published', align: 'end', cell: (row) => formatSize(row.bytes - row.uploadBytes) },
  {
    label: 'Uploaded',
    align: 'end',
    cell: (row) =>
      html`<a href=${projectHref(row.projectId, '/files')}>${formatCount(row.uploads)}, ${formatSize(row.uploadBytes)}</a>`,
  },
  { label: 'Stored', align: 'end', cell: (row) => formatSize(row.uniqueBytes) },
  {
    label: 'Quota',
    cell: (row) => html`
      <a href=${projectHref(row.projectId, '/retention#quota')}>${quotaText(row.quota) || 'None'}</a>
    `,
  },
]

type LogsPageProps = WorkspacePageBase & LogList<LogFilters & { place: string }>

/** Requests to all sites and to the admin. */
export const logsPage = (props: LogsPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'logs', title: 'Requests', about: 'IP addresses, query strings and cookies are not stored.' },
    logList(
      props,
      { href: '/admin/logs', tailHref: '/api/logs/tail' },
      selectField({
        name: 'place',
        label: 'Answered by',
        value: props.filters.place,
        options: [
          { value: 'sites', label: 'Sites' },
          { value: 'admin', label: 'The admin' },
          { value: 'all', label: 'Both' },
        ],
      }),
    ),
  )
