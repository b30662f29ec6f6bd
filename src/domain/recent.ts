/**
 * True while less than `ms` lie between the two times. What was noted by a clock that was ahead, and has been set back since, is
 * not recent either: otherwise it would count until that time comes, which may be in a year.
 */
export const isRecent = (at: number, now: number, ms: number): boolean => Math.abs(now - at) < ms
