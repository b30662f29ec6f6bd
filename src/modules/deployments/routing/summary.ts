import type { Static } from 'elysia'
import type { Context } from '../../../context.ts'
import { findDeployment } from '../queries.ts'
import type { routingSummaryView } from './model.ts'
import { NO_ROUTING, readCompiled } from './stored.ts'

export type RoutingSummary = Static<typeof routingSummaryView>

const MAX_PROBLEMS = 100

/** What the routing files of a deployment's own folder say, counted. contract 13 §7. */
export function routingSummary(ctx: Context, deploymentId: string): RoutingSummary {
  const folder = findDeployment(ctx.db.orm, deploymentId)?.basePath ?? ''
  const { lines, blocks, refused, problems } = readCompiled(ctx, deploymentId, folder) ?? NO_ROUTING
  return {
    redirects: lines.length,
    headers: blocks.length,
    refused,
    problems: problems.slice(0, MAX_PROBLEMS),
  }
}
