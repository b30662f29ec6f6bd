import { parseHttpDate } from './http-date.ts'

/**
 * How long `Retry-After` asks to wait, in milliseconds: seconds, or a date, which counts from `now` on and says nothing where
 * that is not known. Null for anything else. RFC 9110 §10.2.3.
 */
export function parseRetryAfter(text: string | null, now: number | null): number | null {
  if (text === null) return null
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  const at = parseHttpDate(text)
  return at === null || now === null ? null : Math.max(0, at - now)
}
