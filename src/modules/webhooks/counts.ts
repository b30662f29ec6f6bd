import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { countEnabled, countPending } from './queries.ts'

/** How deliveries ended since the start, for the metrics. */
export const deliveryCounts = onePer((_: Context) => ({ delivered: 0, failed: 0, dropped: 0 }))

export const countWaiting = (ctx: Context): number => countPending(ctx.db)

/** For the health page: of the hooks that are on, and what waits. */
export const hookState = (ctx: Context): { hooks: number; failing: number; waiting: number } => ({
  ...countEnabled(ctx.db),
  waiting: countWaiting(ctx),
})
