import type { Context } from '../context.ts'
import type { Fired } from '../modules/schedules/claims.ts'

/** Runs what a schedule fires. The engine loads with the first run. */
export const performer = (ctx: Context) => async (fired: Fired) => {
  const { runSchedule } = await import('../site/run-schedule.ts')
  return runSchedule(ctx, fired)
}
