import { DAY_MS } from './durations.ts'

/**
 * Whether the two times are less than `ms` apart. A time noted by a clock that was ahead and has since been corrected
 * is not recent either: otherwise it would count until that time arrives, perhaps a year later.
 */
export const isRecent = (at: number, now: number, ms: number): boolean => Math.abs(now - at) < ms

/**
 * Whether the time was noted by a clock that was ahead. One day is tolerated, because clocks are often corrected by
 * small steps.
 */
export const isAhead = (at: number, now: number): boolean => at > now + DAY_MS
