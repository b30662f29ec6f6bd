import type { Named } from '../../src/domain/deployment-name.ts'
import { pageOfRows } from '../../src/domain/pagination.ts'
import type { Policy, Reason, RemovedView, RunView } from '../../src/modules/retention/service.ts'
import { card } from '../components/card.ts'
import { countOf } from '../components/chart.ts'
import { details } from '../components/details.ts'
import { type Html, html } from '../components/html.ts'
import { pagination } from '../components/pagination.ts'
import { commit } from '../components/sha.ts'
import { formatSize } from '../components/size.ts'
import { type Column, table } from '../components/table.ts'
import { time } from '../components/time.ts'
import { deploymentLink } from '../deployments/deployment-table.ts'
import { projectHref } from '../frame/project-frame.ts'
import { queryText } from '../frame/project-request.ts'

const PER_PAGE = 50

export type WouldRemoveProps = {
  projectId: string
  /** The rules that were tried out. */
  tried: Policy
  run: RunView
  /** Of the deployments, by id. */
  names: Readonly<Record<string, Named>>
  page: number
}

/** What a run by these rules would remove, and why the rest stays. A script renews it while the rules are typed. */
export const wouldRemove = ({ projectId, tried, run, names, page }: WouldRemoveProps): Html => {
  const { rows, ...place } = pageOfRows(run.removed, page, PER_PAGE)
  const kept = REASONS.flatMap(([reason, label]) =>
    run.kept[reason] > 0 ? [[label, String(run.kept[reason])] as const] : [],
  )
  return card(
    { id: 'would-remove', title: 'What a run would remove' },
    html`
      <div class="stack" data-would-remove>
        <p role="status"><strong>${summary(run)}</strong></p>
        ${kept.length > 0 && details(kept)}
        ${
          rows.length > 0 &&
          html`
            ${table<RemovedView>({ caption: 'Would be removed', rows, columns: columnsOf(projectId, names) })}
            ${pagination({
              ...place,
              hrefOf: (to) =>
                projectHref(projectId, `/retention${queryText({ ...queryOf(tried), page: to })}`),
            })}
            ${run.removedCount > run.removed.length && html`<p class="muted">The newest ${String(run.removed.length)} are listed.</p>`}
          `
        }
      </div>
    `,
  )
}

const summary = ({ removedCount, bytes }: RunView): string =>
  removedCount === 0
    ? 'Would remove nothing.'
    : `Would remove ${countOf(removedCount, 'deployment')}, ${formatSize(bytes)} ${bytes === 1 ? 'comes' : 'come'} back.`

/** Empty means not set, which a query says with 0. */
const queryOf = ({ keepLast, keepDays }: Policy) => ({ keepLast: keepLast ?? 0, keepDays: keepDays ?? 0 })

const REASONS: [reason: Reason, label: string][] = [
  ['alias', 'Kept: shown by an alias'],
  ['previous', 'Kept: shown just before'],
  ['preview', 'Kept: of a preview'],
  ['shared', 'Kept: shared by a link'],
  ['young', 'Kept: too new'],
  ['keepLast', 'Kept: among the newest'],
  ['keepDays', 'Kept: not old enough'],
]

const columnsOf = (projectId: string, names: WouldRemoveProps['names']): Column<RemovedView>[] => [
  {
    label: 'Deployment',
    cell({ id, commitSha }) {
      const named = names[id]
      return html`
        <div class="clip">${named && deploymentLink(projectId, named)}</div>
        <div class="muted small">${commit(commitSha)}</div>
      `
    },
  },
  { label: 'Size', align: 'end', cell: ({ totalSize }) => formatSize(totalSize) },
  { label: 'Published', align: 'end', cell: ({ createdAt }) => time(createdAt) },
]
