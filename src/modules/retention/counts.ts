import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** How many deployments were removed since the start, for the metrics. */
export const retentionCounts = onePer((_: Context) => ({ removed: 0 }))
