import type { Context } from '../../context.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { sumErrors } from './queries.ts'

/** Requests of the last day that the server or a backend failed (5xx), by project id; none if there were none. */
export function recentErrors(ctx: Context, projectIds: readonly string[]): ReadonlyMap<string, number> {
  ctx.requestLog.flush()
  const rows = sumErrors(ctx.requestLog.db, { since: ctx.now() - DAY_MS, until: ctx.now() }, projectIds)
  return new Map(rows.map(({ projectId, errors }) => [projectId, errors]))
}
