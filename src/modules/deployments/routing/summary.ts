import type { Static } from 'elysia'
import type { Context } from '../../../context.ts'
import type { CompiledRouting } from '../../../domain/routing/compile.ts'
import { findDeployment } from '../queries.ts'
import type { routingSummaryView } from './model.ts'
import { findCompiled } from './queries.ts'

export type RoutingSummary = Static<typeof routingSummaryView>

const MAX_PROBLEMS = 100

/** What the routing files of a deployment's own folder say, counted. contract 13 §7. */
export function routingSummary(ctx: Context, deploymentId: string): RoutingSummary {
  const folder = findDeployment(ctx.db.orm, deploymentId)?.basePath ?? ''
  const { lines, blocks, refused, problems } = readCompiled(ctx, deploymentId, folder)
  return {
    redirects: lines.length,
    headers: blocks.length,
    refused,
    problems: problems.slice(0, MAX_PROBLEMS),
  }
}

/** The stored form of the routing files of a folder; an empty one if it has none. */
export function readCompiled(ctx: Context, deploymentId: string, folder: string): CompiledRouting {
  const stored = findCompiled(ctx.db, deploymentId, folder)
  return stored === null
    ? { lines: [], blocks: [], refused: 0, problems: [] }
    : (JSON.parse(stored) as CompiledRouting)
}
