import { invalidField } from './errors.ts'

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)? ?([Zz]|[+-]\d{2}:?\d{2})?$/

/** Whether this is a date of the calendar, such as 2026-11-20. */
export function isIsoDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined || month === undefined || day === undefined) return false
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).getUTCDate() === Number(day)
}

/**
 * A date and time in milliseconds; null if it is none. Without an offset it is UTC; a space may stand before it, as git
 * writes it. ISO 8601; RFC 3339.
 */
export function parseDateTime(text: string): number | null {
  const [whole, date = '', hour, minute, second = '00', zone = 'Z'] = DATE_TIME.exec(text) ?? []
  if (whole === undefined || !isIsoDate(date)) return null
  const fraction = (/\.\d{1,9}/.exec(whole)?.[0] ?? '').slice(0, 4)
  const offset = zone.toUpperCase() === 'Z' ? 'Z' : zone.replace(/^(.\d{2}):?(\d{2})$/, '$1:$2')
  const at = Date.parse(`${date}T${hour}:${minute}:${second}${fraction}${offset}`)
  return Number.isNaN(at) ? null : at
}

/** Parses a time or date of a request, which is UTC unless it says otherwise, into milliseconds. Throws `invalid`. */
export function requireTime(path: string, text: string): number {
  const at = isIsoDate(text) ? Date.parse(text) : parseDateTime(text)
  if (at !== null) return at
  throw invalidField(path, 'A time in ISO 8601, such as 2026-11-20T12:00:00.000Z')
}

/** The same for a query; undefined if it has none. */
export const parseTime = (path: string, text: string | undefined): number | undefined =>
  text === undefined || text === '' ? undefined : requireTime(path, text)

/** Formats milliseconds as every response and log does. contract §2. */
export const isoTime = (at: number): string => new Date(at).toISOString()

export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
