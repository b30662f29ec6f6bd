import { DAY_MS } from './durations.ts'

/**
 * True while less than `ms` lie between the two times. What was noted by a clock that was ahead, and has been set back since, is
 * not recent either: otherwise it would count until that time comes, which may be in a year.
 */
export const isRecent = (at: number, now: number, ms: number): boolean => Math.abs(now - at) < ms

/** True for what was noted by a clock that was ahead. A day is let pass: clocks are corrected by small steps all the time. */
export const isAhead = (at: number, now: number): boolean => at > now + DAY_MS
