import { setTimeout as delay } from 'node:timers/promises'
import { ActionFailure, ApiFailure, messageOf, ServerUnreachable } from './failure.mjs'

/** Before the second, third, fourth and fifth try. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000]
const LONGEST_WAIT_MS = 120_000
const PASSING = [408, 429, 500, 502, 503, 504]

/**
 * Tries up to five times, after 429 as long as `Retry-After` asks. `attempt` calls `restart` when it got further
 * than before: the tries then begin anew.
 *
 * @template T
 * @param {{ log: (text: string) => void, sleep?: (ms: number) => Promise<unknown> }} options
 * @param {(restart: () => void) => Promise<T>} attempt
 * @returns {Promise<T>}
 */
export async function retrying({ log, sleep = delay }, attempt) {
  let tries = 0
  const restart = () => {
    tries = 0
  }
  for (;;) {
    try {
      return await attempt(restart)
    } catch (error) {
      const waitMs = waitAfter(error, WAITS_MS[tries])
      if (!isPassing(error) || waitMs === undefined) throw error
      tries += 1
      log(`Trying again in ${Math.ceil(waitMs / 1_000)} s: ${messageOf(error)}`)
      await sleep(waitMs)
    }
  }
}

/** The server no longer knows the upload, or holds less of it than it said: asking anew mends both. */
export class LostUpload extends ActionFailure {}

/** @param {unknown} error */
export function isPassing(error) {
  if (error instanceof ServerUnreachable || error instanceof LostUpload) return true
  return error instanceof ApiFailure && PASSING.includes(error.status)
}

/**
 * Undefined: no further try, or one that would come too late.
 *
 * @param {unknown} error
 * @param {number | undefined} waitMs
 */
function waitAfter(error, waitMs) {
  const asked = error instanceof ApiFailure ? error.retryAfterMs : undefined
  if (waitMs === undefined || asked === undefined) return waitMs
  return asked > LONGEST_WAIT_MS ? undefined : Math.max(asked, waitMs)
}
