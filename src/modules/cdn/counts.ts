import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'

/** Requests to the CDN since the start, by result, and keys that were given up after a day; for the metrics. */
export const purgeCounts = onePer((_: Context) => ({ ok: 0, failed: 0, given_up: 0 }))
