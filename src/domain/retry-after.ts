import { parseHttpDate } from './http-date.ts'

/**
 * Parses `Retry-After` (seconds or a date) into the milliseconds to wait. A date is relative to `now` and ignored if
 * `now` is null. Null for anything else. RFC 9110 §10.2.3.
 */
export function parseRetryAfter(text: string | null, now: number | null): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const at = parseHttpDate(text)
  return at === null || now === null ? null : Math.max(0, at - now)
}
