import { HOUR_MS } from '../../domain/durations.ts'

/** Tries in all. */
export const MAX_TRIES = 5

/** How long the answer asks to wait: seconds or a date, at most an hour; 0 if it does not. RFC 9110 §10.2.3. */
export function parseRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now
  return ms > 0 ? Math.min(ms, HOUR_MS) : 0
}

/**
 * How long to wait after the `failed`-th try of a delivery. `waits` in seconds; up to a tenth more by `random` (0 to 1),
 * so that what failed together does not come back together.
 */
export function retryDelayMs(after: {
  failed: number
  waits: readonly number[]
  retryAfterMs: number
  random: number
}): number {
  const { failed, waits, retryAfterMs, random } = after
  const wait = (waits[failed - 1] ?? waits.at(-1) ?? 0) * 1000
  return Math.max(Math.round(wait * (1 + random / 10)), retryAfterMs)
}
