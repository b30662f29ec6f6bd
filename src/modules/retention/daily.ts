import type { Context } from '../../context.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import type { Stop } from '../../platform/in-steps.ts'
import { onePer } from '../../platform/one-per.ts'
import { operatorGrant } from '../auth/authorize.ts'
import { listOverdue } from './queries.ts'
import { runRetention } from './run.ts'
import { oneAtATime } from './service.ts'

/** 03:00 UTC. */
const AT_MS = 3 * HOUR_MS

const lookedOf = onePer((_: Context) => ({ at: null as number | null }))

/**
 * Runs the retention of each project that has rules: daily at 03:00 UTC, and at the start where the last run is over a day
 * old. Called each minute. contract 16 §3.
 */
export async function runDueRetention(ctx: Context, stop: Stop): Promise<void> {
  const now = ctx.now()
  const looked = lookedOf(ctx)
  const before = looked.at
  looked.at = now
  if (before !== null && dayOf(before) === dayOf(now)) return
  for (const projectId of listOverdue(ctx.db, before === null ? now - DAY_MS : Number.MAX_SAFE_INTEGER)) {
    if (stop.aborted) return
    await runOne(ctx, projectId, stop)
  }
}

/** A failure of one project is not one of the others. */
async function runOne(ctx: Context, projectId: string, stop: Stop): Promise<void> {
  try {
    await oneAtATime(ctx, projectId, () => runRetention(ctx, operatorGrant(projectId), projectId, stop))
  } catch (error) {
    ctx.log.error('deployments could not be removed by their retention', { projectId, error })
  }
}

/** Days begin at 03:00. */
const dayOf = (at: number): number => Math.floor((at - AT_MS) / DAY_MS)
