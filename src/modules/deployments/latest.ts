import type { Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { listLastTimes } from './queries.ts'

/** When something was last published to each project, in ISO 8601, by project id; none if nothing was. */
export const lastDeploymentTimes = (
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, string> =>
  new Map(listLastTimes(ctx.db, projectIds).map(({ projectId, at }) => [projectId, isoTime(at)]))
