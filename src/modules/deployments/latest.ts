import type { Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'

/** When something was last published to each project, in ISO 8601, by project id; none where nothing was. */
export function lastDeploymentTimes(
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, string> {
  const rows = ctx.db.sqlite
    .query<{ projectId: string; at: number }, [string]>(
      `SELECT projectId, at FROM (
         SELECT value AS projectId, (SELECT max(updated_at) FROM deployments WHERE project_id = value) AS at
         FROM json_each(?)) WHERE at IS NOT NULL`,
    )
    .all(JSON.stringify(projectIds))
  return new Map(rows.map(({ projectId, at }) => [projectId, isoTime(at)]))
}

/** Those of the projects whose newest deployment is shown by no alias. */
export function unreleasedProjects(ctx: Context, projectIds: readonly string[]): ReadonlySet<string> {
  const rows = ctx.db.sqlite
    .query<{ projectId: string }, [string]>(
      `SELECT projectId FROM (
         SELECT value AS projectId, (
           SELECT id FROM deployments WHERE project_id = value ORDER BY updated_at DESC, id DESC LIMIT 1
         ) AS newest FROM json_each(?))
       WHERE newest IS NOT NULL AND NOT EXISTS (SELECT 1 FROM aliases WHERE deployment_id = newest)`,
    )
    .all(JSON.stringify(projectIds))
  return new Set(rows.map(({ projectId }) => projectId))
}
