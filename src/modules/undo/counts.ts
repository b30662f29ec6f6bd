import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** How many changes were undone since the start, for the metrics. */
export const undoCounts = onePer((_: Context) => ({ undone: 0 }))
