import type { Context } from '../../../context.ts'
import type { CompiledRouting } from '../../../domain/routing/compile.ts'
import { findCompiled } from './queries.ts'

/** The stored form of the routing files of a folder (`''`, or such as `/dist`); null if it has none. */
export function readCompiled(ctx: Context, deploymentId: string, folder: string): CompiledRouting | null {
  const stored = findCompiled(ctx.db, deploymentId, folder)
  return stored === null ? null : (JSON.parse(stored) as CompiledRouting)
}

/** Of a folder without routing files. */
export const NO_ROUTING: CompiledRouting = { lines: [], blocks: [], refused: 0, problems: [] }
