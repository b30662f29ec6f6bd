import { invalidField } from './errors.ts'

/** Milliseconds of an ISO 8601 time or date that a query names; undefined where it names none. Throws `invalid`. */
export function parseTime(path: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isFinite(at)) return at
  throw invalidField(path, 'A time in ISO 8601, such as 2026-11-20T12:00:00.000Z')
}

/** A time in milliseconds as every answer and log writes it. contract §2. */
export const isoTime = (at: number): string => new Date(at).toISOString()

export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
