import { ApiFailure, ServerUnreachable } from './api-client.ts'
import type { Io } from './command.ts'

/** Waits before the second to fifth try. contract §5.3. */
const WAITS_MS = [1_000, 2_000, 4_000, 8_000]
/** The service asks for a minute at most; no build should be held up longer than this. */
const LONGEST_WAIT_MS = 120_000

type RetryOptions = {
  sleep: Io['sleep']
  /** Whether a retry may succeed; `isPassing` by default. */
  isWorthRetrying?: (error: unknown) => boolean
  onWait?: (error: Error, waitMs: number) => void
}

/**
 * Tries up to five times with growing waits, after 429 as long as `Retry-After` asks. `attempt` may call
 * `restart` after progress, which resets the tries. A server that is down behind a proxy (502, 503, 504) ends as
 * `ServerUnreachable`, like one that does not answer.
 */
export async function retrying<T>(
  { sleep, isWorthRetrying = isPassing, onWait }: RetryOptions,
  attempt: (restart: () => void) => Promise<T>,
): Promise<T> {
  let tries = 0
  const restart = () => {
    tries = 0
  }
  for (;;) {
    try {
      return await attempt(restart)
    } catch (error) {
      const waitMs = waitAfter(error, WAITS_MS[tries])
      if (!isWorthRetrying(error) || !(error instanceof Error) || waitMs === undefined)
        throw finalError(error)
      tries += 1
      onWait?.(error, waitMs)
      await sleep(waitMs)
    }
  }
}

/** Network errors, errors of a server in trouble, and the rate limit. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServerUnreachable) return true
  if (!(error instanceof ApiFailure)) return false
  return [408, 429, 500, 502, 503, 504].includes(error.status)
}

/** Undefined when there is no further try, or it would come too late. */
function waitAfter(error: unknown, waitMs: number | undefined): number | undefined {
  const asked = error instanceof ApiFailure ? error.retryAfterMs : undefined
  if (waitMs === undefined || asked === undefined) return waitMs
  return asked > LONGEST_WAIT_MS ? undefined : Math.max(asked, waitMs)
}

function finalError(error: unknown): unknown {
  const isGateway = error instanceof ApiFailure && [502, 503, 504].includes(error.status)
  return isGateway ? new ServerUnreachable(`not reachable: ${error.message}`, error) : error
}
