import { isoTime } from '../../domain/iso-time.ts'

/** One try of a delivery. `response`: the first 1000 characters of the answer's body. Without an answer, `error` says why. */
export type Try = {
  at: string
  status: number | null
  durationMs: number
  error: string | null
  response: string | null
}

/** Stands in the list of tries for why a delivery ended without being sent: `dropped`, `restored`. */
export const unsentTry = (at: number, error: string): Try => ({
  at: isoTime(at),
  status: null,
  durationMs: 0,
  error,
  response: null,
})
