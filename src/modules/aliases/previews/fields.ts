import { DAY_MS, HOUR_MS, WEEK_MS } from '../../../domain/durations.ts'

const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: DAY_MS, w: WEEK_MS }
const MAX_MS = 365 * DAY_MS

/** What `parseExpiresIn` takes, for people. */
export const EXPIRES_IN = 'a whole number with h, d or w, such as 12h, 7d or 2w: from 1h to 365d'

/** How long a preview stays, in milliseconds; null if it is not `EXPIRES_IN`. contract 16 §2. */
export function parseExpiresIn(text: string): number | null {
  const [, count, unit] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit ?? ''] ?? Number.NaN)
  return ms >= HOUR_MS && ms <= MAX_MS ? ms : null
}

const MAX_URL = 2048

/** An address that a link may lead to. */
export function isWebAddress(text: string): boolean {
  if (text.length > MAX_URL || /[\p{Cc}\s]/u.test(text) || !URL.canParse(text)) return false
  const { protocol } = new URL(text)
  return protocol === 'https:' || protocol === 'http:'
}
