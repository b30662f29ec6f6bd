import type { Context } from '../../context.ts'
import { DAY_MS } from '../../domain/durations.ts'

/** How many requests of the last day the server or a backend failed (5xx), by project id; none where there were none. */
export function recentErrors(ctx: Context, projectIds: readonly string[]): ReadonlyMap<string, number> {
  ctx.requestLog.flush()
  const rows = ctx.requestLog.db.sqlite
    .query<{ projectId: string; errors: number }, [number, string]>(
      `SELECT project_id AS projectId, sum(errors) AS errors FROM hours
       WHERE hour > ? AND project_id IN (SELECT value FROM json_each(?))
       GROUP BY project_id HAVING sum(errors) > 0`,
    )
    .all(ctx.now() - DAY_MS, JSON.stringify(projectIds))
  return new Map(rows.map(({ projectId, errors }) => [projectId, errors]))
}
