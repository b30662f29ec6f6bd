import { invalidField } from './errors.ts'

/**
 * Parses an ISO 8601 time or date from a query into milliseconds; undefined if the query has none. Throws `invalid`.
 */
export function parseTime(path: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return at
  throw invalidField(path, 'A time in ISO 8601, such as 2026-11-20T12:00:00.000Z')
}

/** Formats milliseconds as every response and log does. contract §2. */
export const isoTime = (at: number): string => new Date(at).toISOString()

export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
