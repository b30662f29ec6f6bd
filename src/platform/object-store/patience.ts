import { StoreError } from './error.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1_000

/**
 * Does the work again after a failure that may pass, with growing waits, as long as `patienceMs` are not over when it
 * fails. The work must be safe to be done twice.
 */
export async function patiently<T>(
  patienceMs: number,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  const until = performance.now() + patienceMs
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    signal?.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreError) || !error.isTransient) throw error
      if (performance.now() + waitMs >= until) throw error
    }
    await Bun.sleep(waitMs)
  }
}
