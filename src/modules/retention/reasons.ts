import type { Context } from '../../context.ts'
import { DAY_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { Policy, Reason } from './model.ts'
import {
  type Candidate,
  findLastKept,
  listOfPreviews,
  listShown,
  listShownBefore,
  type Place,
} from './queries.ts'

/** `no_rule`: it stays because no rule is set. */
type Verdict = Reason | 'goes' | 'no_rule'

/** Says whether a deployment goes, or why it stays, as of when the judge was made. contract 16 §3. */
export type Judge = (candidate: Candidate) => Verdict

export function judgeOf(ctx: Context, projectId: string, { keepLast, keepDays }: Policy): Judge {
  const { db } = ctx
  const now = ctx.now()
  const shown = listShown(db, projectId, now)
  const before = listShownBefore(db, projectId)
  const ofPreviews = listOfPreviews(db, projectId, now)
  const isAmongLast = amongLast(ctx, projectId, keepLast)
  const youngFrom = now - ctx.config.retentionGraceMinutes * MINUTE_MS
  const keptFrom = keepDays === null ? Number.POSITIVE_INFINITY : now - keepDays * DAY_MS
  return (candidate) => {
    if (shown.has(candidate.id)) return 'alias'
    if (before.has(candidate.id)) return 'previous'
    if (ofPreviews.has(candidate.id)) return 'preview'
    // What was published into again is as young as that.
    if (Math.max(candidate.createdAt, candidate.updatedAt) > youngFrom) return 'young'
    if (isAmongLast(candidate)) return 'keepLast'
    if (candidate.createdAt >= keptFrom) return 'keepDays'
    return keepLast === null && keepDays === null ? 'no_rule' : 'goes'
  }
}

function amongLast(
  ctx: Context,
  projectId: string,
  keepLast: number | null,
): (candidate: Candidate) => boolean {
  if (keepLast === null) return () => false
  const last = findLastKept(ctx.db, projectId, keepLast)
  return (candidate) => candidate.preview === null && (last === null || !isOlder(candidate, last))
}

const isOlder = (one: Place, other: Place): boolean =>
  one.createdAt < other.createdAt || (one.createdAt === other.createdAt && one.id < other.id)
