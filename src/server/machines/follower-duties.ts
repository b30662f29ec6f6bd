import type { Context } from '../../context.ts'
import { removeOldLogs } from '../../modules/logs/requests.ts'
import type { Stop } from '../../platform/in-steps.ts'
import { every } from '../every.ts'
import { startReporting } from './reporting.ts'

/**
 * Starts what a machine does while it follows another: it reports to it, and tidies its own request log. `ctx` is the current
 * one, whatever its role. Returns a function that stops it.
 */
export function startFollowerDuties(ctx: () => Context): () => Promise<void> {
  const stopReporting = startReporting(ctx)
  const stopTidying = every(ctx(), 'old requests of a machine that follows', (stop) => tidyLog(ctx(), stop))
  return async () => {
    await Promise.all([stopReporting(), stopTidying()])
  }
}

/** The primary does so with all its upkeep. A machine that has no copy yet knows no project. */
export async function tidyLog(ctx: Context, stop?: Stop): Promise<void> {
  const { machine } = ctx
  if (machine === null || machine.role() === 'primary' || machine.state().number === 0) return
  await removeOldLogs(ctx, stop)
}
