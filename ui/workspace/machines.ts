import type { CdnView } from '../../src/modules/cdn/service.ts'
import {
  isSilent,
  type MachinesView,
  type MachineView,
  machineWarnings,
  type StoreView,
} from '../../src/modules/machines/service.ts'
import { badge } from '../components/badge.ts'
import { card } from '../components/card.ts'
import { formatCount } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { emptyState } from '../components/empty-state.ts'
import { type Html, html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { cdnCard } from './cdn-card.ts'
import { type WorkspacePageBase, workspaceFrame } from './frame.ts'

type MachinesPageProps = WorkspacePageBase & {
  found: MachinesView
  cdn: CdnView
  /** In milliseconds since 1970. */
  now: number
  /** Whether machines can tell each other how they are. */
  hasSecret: boolean
}

/** The machines of the workspace, the object store that they share, and the CDN. islands/live.js keeps it up to date. */
export const machinesPage = (props: MachinesPageProps): Html =>
  workspaceFrame(
    props,
    { place: 'machines', title: 'Machines', about: about(props.found) },
    html`
      <div class="cards" data-live="warnings" role="status">${warnings(props)}</div>
      <div class="cards" data-live="state">
        ${machinesCard(props)} ${props.found.store === null ? withoutStore() : storeCard(props.found.store)}
        ${cdnCard(props.cdn)}
      </div>
    `,
  )

const about = ({ store }: MachinesView): string =>
  store === null
    ? 'One machine serves everything.'
    : 'One machine, the primary, takes all changes and writes them into the object store. The others follow it there.'

const warnings = ({ found, now, hasSecret }: MachinesPageProps): Html[] =>
  found.store === null
    ? []
    : machineWarnings(found.machines, { now, hasSecret }).map(({ message }) =>
        notice({ tone: 'warn', message }),
      )

const withoutStore = (): Html =>
  emptyState({
    icon: 'machines',
    title: 'No object store',
    text: html`With an object store (<code>STORE_URL</code>) every change is in it before it is acknowledged, so losing this machine loses nothing. Other machines can then follow this one, serve the same sites, and take over when it fails. <a href="/docs/scaling">docs/scaling.md</a> leads there step by step.`,
  })

const machinesCard = ({ found, now }: MachinesPageProps): Html =>
  card(
    {
      id: 'machines',
      title: 'Machines',
      about:
        found.store !== null &&
        html`The others say how they are every 10 seconds, where <code>NODE_SECRET</code> is set.`,
    },
    html`
      ${found.machines.length > 1 && picture(found)}
      ${table<MachineView>({ caption: 'Machines', rows: found.machines, columns: columnsOf(found, now) })}
    `,
  )

const columnsOf = ({ self, store }: MachinesView, now: number): Column<MachineView>[] => [
  {
    label: 'Machine',
    cell: ({ name, url }) => html`
      <strong>${name}</strong>${name === self && html` <span class="muted">(this one)</span>`}
      ${url !== null && html`<div class="muted small">${url}</div>`}
    `,
  },
  { label: 'Role', cell: (row) => roleBadge(row, now) },
  { label: 'Version', cell: ({ version }) => html`<code>${version}</code>` },
  ...(store === null ? [] : COLUMNS_OF_STORE),
  { label: 'Last seen', align: 'end', cell: ({ lastSeenAt }) => time(lastSeenAt) },
]

const COLUMNS_OF_STORE: Column<MachineView>[] = [
  { label: 'Epoch', align: 'end', cell: ({ epoch }) => String(epoch) },
  { label: 'Number', align: 'end', cell: ({ number }) => formatCount(number) },
  { label: 'Behind', align: 'end', cell: ({ lagMs }) => lagText(lagMs) },
  {
    label: 'Cache',
    align: 'end',
    cell: ({ cacheBytes, cacheHits, cacheMisses }) => html`
      ${formatSize(cacheBytes)}<div class="muted small">${hitText(cacheHits, cacheMisses)}</div>
    `,
  },
]

const lagText = (lagMs: number): string =>
  lagMs === 0 ? 'no' : `${(lagMs / 1000).toFixed(lagMs < 10_000 ? 1 : 0)}\u00a0s`

const hitText = (hits: number, misses: number): string =>
  hits + misses === 0 ? 'not asked yet' : `${Math.floor((hits / (hits + misses)) * 100)} % found in it`

const ROLES: Record<MachineView['role'], string> = { primary: 'Primary', standby: 'Stand-by', node: 'Node' }

function roleBadge(row: MachineView, now: number): Html {
  if (isSilent(row, now)) return badge(`${ROLES[row.role]}, silent`, 'warn')
  return badge(ROLES[row.role], row.role === 'primary' ? 'good' : 'plain')
}

const storeCard = ({ url, status, error, logBytes, baseAt, contentBytes, objects }: StoreView): Html =>
  card(
    { id: 'store', title: 'Object store' },
    details([
      ['Address', html`<code class="path">${url}</code>`],
      ['State', status === 'ok' ? badge('OK', 'good') : badge('Failing', 'bad')],
      ['What it says', error],
      ['Log', logBytes === null ? 'not counted yet' : formatSize(logBytes)],
      ['Newest copy of the database', time(baseAt, 'none yet')],
      [
        'Contents',
        contentBytes === null || objects === null
          ? 'not counted yet'
          : `${formatSize(contentBytes)} in ${formatCount(objects)} objects`,
      ],
    ]),
  )

/** Who writes into the store, and who reads it there. */
function picture({ machines, primary, store }: MachinesView): Html {
  const followers = machines.filter(({ role }) => role !== 'primary')
  const names = followers.map(({ name }) => name).join(', ')
  const words = `${primary ?? 'No machine'} writes into ${store?.url}, and ${names} follow there.`
  return html`
    <p class="facts" role="img" aria-label=${words}>
      ${badge(primary ?? 'No primary', 'good')} → ${badge('Object store', 'info')} →
      ${followers.map(({ name }) => badge(name))}
    </p>
  `
}
