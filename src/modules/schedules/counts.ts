import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { countAllSchedules } from './queries.ts'

/** How scheduled runs ended since the start, for the metrics. */
export const scheduleRunCounts = onePer((_: Context) => ({ ok: 0, failed: 0, skipped: 0, interrupted: 0 }))

export const countSchedules = (ctx: Context): number => countAllSchedules(ctx.db)
