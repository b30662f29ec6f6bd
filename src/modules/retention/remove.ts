import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Stop } from '../../platform/in-steps.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { removeDeployment } from '../deployments/remove.ts'
import { retentionCounts } from './counts.ts'
import { NO_POLICY, type Reason, type RemovedView, type RunView } from './model.ts'
import { type Plan, show } from './plan.ts'
import { type Candidate, findPolicy, listByIds, listContentIds } from './queries.ts'
import { judgeOf } from './reasons.ts'

/** A transaction removes at most so many deployments, and about so many files, so that nobody waits long. */
const MOST_DEPLOYMENTS = 100
const MOST_FILES = 1000
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
  for (const ids of batchesOf(going)) {
    if (stop.aborted) return
    const batch = inTidyingTransaction(ctx.db, (tx) => removeBatch(ctx, tx, grant, projectId, ids))
    for (const candidate of batch.gone) show(removal.removed, candidate)
    for (const id of batch.contents) removal.contents.add(id)
    for (const reason of batch.kept) removal.kept[reason] += 1
    removal.removedCount += batch.gone.length
    retentionCounts(ctx).removed += batch.gone.length
    await Bun.sleep(PAUSE_MS)
  }
}

type Batch = { gone: Candidate[]; contents: number[]; kept: Reason[] }

function removeBatch(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  projectId: string,
  ids: readonly string[],
): Batch {
  const { actor } = authorizeAgain(ctx, grant, 'retention:manage')
  const judge = judgeOf(ctx, projectId, findPolicy(ctx.db, projectId) ?? NO_POLICY)
  const batch: Batch = { gone: [], contents: [], kept: [] }
  for (const candidate of listByIds(ctx.db, projectId, ids)) {
    const verdict = judge(candidate)
    if (verdict === 'goes') {
      for (const id of listContentIds(ctx.db, candidate.id)) batch.contents.push(id)
      removeDeployment(ctx, tx, actor, candidate.id)
      batch.gone.push(candidate)
    } else if (verdict !== 'no_rule') batch.kept.push(verdict)
  }
  return batch
}

function* batchesOf(going: Plan['going']): Generator<string[]> {
  let ids: string[] = []
  let files = 0
  for (const { id, fileCount } of going) {
    if (ids.length === MOST_DEPLOYMENTS || (ids.length > 0 && files + fileCount > MOST_FILES)) {
      yield ids
      ids = []
      files = 0
    }
    ids.push(id)
    files += fileCount
  }
  if (ids.length > 0) yield ids
}
