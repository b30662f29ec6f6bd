import type { Context } from '../../context.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'

const SPAN_MS = 5 * MINUTE_MS
const LEAST_ERRORS = 20
const LEAST_SHARE = 0.05
const TIMES_BEFORE = 3

/** `share`: 0 to 1, of all answers. `path`: the one with most errors. */
type Rising = { projectId: string; count: number; share: number; path: string }

/**
 * Projects that answered 20 or more 5xx in the last 5 minutes, which are 5 % or more of their answers and 3 times the
 * share of the hour before. Needs single requests in the log (`LOG_RETENTION_DAYS`).
 */
export function risingErrors(ctx: Context): Rising[] {
  ctx.requestLog.flush()
  const now = ctx.now()
  const from = now - SPAN_MS
  return sums(ctx, from, now).flatMap(({ projectId, errors, total }) => {
    const share = errors / total
    if (errors < LEAST_ERRORS || share < LEAST_SHARE) return []
    if (share < TIMES_BEFORE * shareBefore(ctx, projectId, from)) return []
    return [{ projectId, count: errors, share, path: worstPath(ctx, projectId, from, now) }]
  })
}

type Sum = { projectId: string; errors: number; total: number }
const ERRORS = 'coalesce(sum(CASE WHEN status >= 500 THEN weight END), 0)'

const sums = ({ requestLog }: Context, from: number, to: number): Sum[] =>
  requestLog.db.sqlite
    .query<Sum, [number, number]>(
      `SELECT project_id AS projectId, ${ERRORS} AS errors, sum(weight) AS total FROM requests
       WHERE at > ? AND at <= ? AND project_id IS NOT NULL GROUP BY project_id`,
    )
    .all(from, to)

function shareBefore({ requestLog }: Context, projectId: string, before: number): number {
  const found = requestLog.db.sqlite
    .query<Omit<Sum, 'projectId'>, [number, number, string]>(
      `SELECT ${ERRORS} AS errors, coalesce(sum(weight), 0) AS total FROM requests
       WHERE at > ? AND at <= ? AND project_id = ?`,
    )
    .get(before - HOUR_MS, before, projectId)
  return found === null || found.total === 0 ? 0 : found.errors / found.total
}

const worstPath = ({ requestLog }: Context, projectId: string, from: number, to: number): string =>
  requestLog.db.sqlite
    .query<{ path: string }, [number, number, string]>(
      `SELECT path FROM requests WHERE at > ? AND at <= ? AND project_id = ? AND status >= 500
       GROUP BY path ORDER BY sum(weight) DESC, path LIMIT 1`,
    )
    .get(from, to, projectId)?.path ?? '/'
