import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Stop } from '../../platform/in-steps.ts'
import { endDuePreviewsIn } from '../aliases/previews/due.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { removeDeployment } from '../deployments/remove.ts'
import { retentionCounts } from './counts.ts'
import { NO_POLICY, type Reason, type RemovedView, type RunView } from './model.ts'
import { type Plan, show } from './plan.ts'
import { type Candidate, findPolicy, listByIds, listContentIds } from './queries.ts'
import { judgeOf } from './reasons.ts'

/** A transaction removes at most so many deployments, and begins none after so long, so that nobody waits long. */
const MOST_DEPLOYMENTS = 100
const MOST_MS = 20
const PAUSE_MS = 10

/** What was removed, and which contents lost a file by it. */
export type Removal = {
  removed: RemovedView[]
  removedCount: number
  contents: Set<number>
  kept: RunView['kept']
}

/**
 * Removes what is planned, each deployment whole. It is judged again in the transaction that removes it: an alias may have
 * moved to it, and the rules or the rights of who started this may have changed. What went until something failed, or
 * `stop` said so, is in `removal`.
 */
export async function removePlanned(
  ctx: Context,
  grant: Grant,
  projectId: string,
  going: Plan['going'],
  removal: Removal,
  stop: Stop,
): Promise<void> {
  for (let at = 0; at < going.length && !stop.aborted; ) {
    const ids = going.slice(at, at + MOST_DEPLOYMENTS)
    const batch = inTidyingTransaction(ctx.db, (tx) => removeBatch(ctx, tx, grant, projectId, ids))
    at += batch.looked
    for (const candidate of batch.gone) show(removal.removed, candidate)
    for (const id of batch.contents) removal.contents.add(id)
    for (const reason of batch.kept) removal.kept[reason] += 1
    removal.removedCount += batch.gone.length
    retentionCounts(ctx).removed += batch.gone.length
    await Bun.sleep(PAUSE_MS)
  }
}

/** `looked`: at how many of the ids. */
type Batch = { looked: number; gone: Candidate[]; contents: number[]; kept: Reason[] }

function removeBatch(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  projectId: string,
  ids: readonly string[],
): Batch {
  const { actor } = authorizeAgain(ctx, grant, 'retention:manage')
  endDuePreviewsIn(ctx, tx)
  const judge = judgeOf(ctx, projectId, findPolicy(ctx.db, projectId) ?? NO_POLICY)
  const batch: Batch = { looked: 0, gone: [], contents: [], kept: [] }
  const found = new Map(listByIds(ctx.db, projectId, ids).map((candidate) => [candidate.id, candidate]))
  const due = performance.now() + MOST_MS
  for (const id of ids) {
    if (batch.looked > 0 && performance.now() > due) break
    batch.looked += 1
    const candidate = found.get(id)
    const verdict = candidate === undefined ? 'no_rule' : judge(candidate)
    if (candidate !== undefined && verdict === 'goes') {
      for (const content of listContentIds(ctx.db, id)) batch.contents.push(content)
      removeDeployment(ctx, tx, actor, id)
      batch.gone.push(candidate)
    } else if (verdict !== 'no_rule' && verdict !== 'goes') batch.kept.push(verdict)
  }
  return batch
}
