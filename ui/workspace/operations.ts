import { pageOfRows } from '../../src/domain/pagination.ts'
import type { BackupsView, BackupView } from '../../src/modules/backups/service.ts'
import type { ProjectStorage, Storage } from '../../src/modules/storage/service.ts'
import { button } from '../components/button.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { hidden, selectField } from '../components/field.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { pagination } from '../components/pagination.ts'
import { progress } from '../components/progress.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { projectHref } from '../frame/project-frame.ts'
import { type Failed, queryText } from '../frame/project-request.ts'
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

type BackupsPageProps = WorkspacePageBase & {
  backups: BackupsView
  /** The absolute folder of the running server. */
  dataDir: string
  failed?: Failed | undefined
}

/** The list of backups. Sends `intent=make`. */
export const backupsPage = (props: BackupsPageProps): Html => {
  const { backups, failed } = props
  return workspaceFrame(
    props,
    {
      place: 'backups',
      title: 'Backups',
      about: 'Each backup is one file with the whole workspace at one moment.',
    },
    html`
      ${failed !== undefined && notice({ tone: 'bad', message: failed.error.message, live: true })}
      ${
        backups.lastFailure !== null &&
        notice({
          tone: 'bad',
          message: html`The last backup failed ${time(backups.lastFailure.at)}: ${backups.lastFailure.message}`,
        })
      }
      ${backups.directory === null ? notSetUp(props.dataDir) : made(backups)}
    `,
  )
}

const notSetUp = (dataDir: string): Html =>
  emptyState({
    icon: 'warning',
    title: 'Backups are not set up',
    text: html`Start svc with <code>BACKUP_DIR</code>, preferably on another disk, to make one every day. To make one by hand: <code class="path">svc backup FILE --data-dir ${shellWord(dataDir)}</code>.`,
  })

/** As one word of a shell. */
const shellWord = (text: string): string =>
  /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

const made = ({ directory, everyHours, keep, backups, running }: BackupsView): Html => html`
  ${card(
    { id: 'plan', title: 'Schedule' },
    html`
      ${details([
        ['Folder', html`<code>${directory}</code>`],
        ['Every', `${everyHours} hours`],
        ['Kept', `the last ${keep}`],
        ['Running', running !== null && html`since ${time(running.startedAt)}`],
      ])}
      <form method="post">${hidden('intent', 'make')} ${button({ label: 'Back up now', kind: 'secondary' })}</form>
    `,
  )}
  ${card(
    { id: 'backups', title: 'Backups' },
    backups.length === 0
      ? html`<p class="muted">None yet.</p>`
      : table<BackupView>({
          caption: 'Backups',
          rows: backups,
          columns: [
            { label: 'File', cell: ({ name }) => html`<code>${name}</code>` },
            { label: 'Size', align: 'end', cell: ({ sizeBytes }) => formatSize(sizeBytes) },
            { label: 'Made', align: 'end', cell: ({ createdAt }) => time(createdAt) },
          ],
        }),
  )}
`

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
