import type { Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { Policy, Reason, RemovedView, RunView } from './model.ts'
import { type Candidate, listAfter, type Place } from './queries.ts'
import { judgeOf } from './reasons.ts'

const READ_AT_ONCE = 1000
const MAX_SHOWN = 1000

type Kept = RunView['kept']

/** The ids of what goes by a policy, newest first, and why the rest stays. */
export type Plan = { going: string[]; removed: RemovedView[]; kept: Kept }

/** Reads in steps, so that nobody waits. */
export async function planRetention(ctx: Context, projectId: string, policy: Policy): Promise<Plan> {
  const judge = judgeOf(ctx, projectId, policy)
  const plan: Plan = { going: [], removed: [], kept: noneKept() }
  let after: Place | undefined = { createdAt: Number.MAX_SAFE_INTEGER, id: '' }
  while (after !== undefined) {
    const candidates = listAfter(ctx.db, projectId, after, READ_AT_ONCE)
    for (const candidate of candidates) {
      const verdict = judge(candidate)
      if (verdict === 'goes') {
        plan.going.push(candidate.id)
        show(plan.removed, candidate)
      } else if (verdict !== 'no_rule') plan.kept[verdict] += 1
    }
    after = candidates.at(-1)
    await nextTurn()
  }
  return plan
}

export function show(
  removed: RemovedView[],
  { id, commitSha, version, createdAt, totalSize }: Candidate,
): void {
  if (removed.length < MAX_SHOWN)
    removed.push({ id, commitSha, version, createdAt: isoTime(createdAt), totalSize })
}

const noneKept = (): Record<Reason, number> => ({
  alias: 0,
  previous: 0,
  preview: 0,
  shared: 0,
  young: 0,
  keepLast: 0,
  keepDays: 0,
})
