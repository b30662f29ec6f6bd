import type { Context } from '../../context.ts'
import { scheduleDuty } from './duty.ts'
import { hasAnythingToRun } from './queries.ts'

const loadClock = async (ctx: Context) => (await import('./clock.ts')).clockOf(ctx)

/** Fires schedules from now on; until there is one, nothing is loaded. Returns a function that stops it. */
export async function startSchedules(ctx: Context): Promise<() => Promise<void>> {
  const duty = scheduleDuty(ctx)
  duty.isOn = true
  if (hasAnythingToRun(ctx.db)) void loadClock(ctx).then((clock) => clock.start())
  return async () => {
    duty.isOn = false
    await (await loadClock(ctx)).stop()
  }
}
