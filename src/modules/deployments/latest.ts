import type { Context } from '../../context.ts'

/** When something was last published to each project, in ISO 8601, by project id; none where nothing was. */
export function lastDeploymentTimes(
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, string> {
  const rows = ctx.db.sqlite
    .query<{ projectId: string; at: number }, [string]>(
      `SELECT p.value AS projectId, max(d.updated_at) AS at
       FROM json_each(?) p JOIN deployments d ON d.project_id = p.value GROUP BY p.value`,
    )
    .all(JSON.stringify(projectIds))
  return new Map(rows.map(({ projectId, at }) => [projectId, new Date(at).toISOString()]))
}
