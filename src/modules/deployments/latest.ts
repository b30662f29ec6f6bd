import type { Context } from '../../context.ts'

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
  return new Map(rows.map(({ projectId, at }) => [projectId, new Date(at).toISOString()]))
}
