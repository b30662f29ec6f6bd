import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import type { ReleaseStatus } from './model.ts'

/** How releases ended since the start, for the metrics. */
export const releaseCounts = onePer(
  (_: Context): Record<Exclude<ReleaseStatus, 'none'>, number> => ({
    moved: 0,
    passed: 0,
    failed: 0,
    forced: 0,
    locked: 0,
    overtaken: 0,
    asked: 0,
  }),
)
