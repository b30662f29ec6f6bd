import { StoreError } from './error.ts'

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1_000

/**
 * Does the work again after a failure that may pass, with growing waits, as long as `patienceMs` are not over when it
 * fails. The work must be safe to be done twice, and is to end by the time that it is given.
 */
export async function patiently<T>(
  { patienceMs, limitMs, signal }: { patienceMs: number; limitMs: number; signal: AbortSignal | undefined },
  work: (deadline: number) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  const until = startedAt + patienceMs
  const deadline = startedAt + Math.max(patienceMs, limitMs)
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    signal?.throwIfAborted()
    try {
      return await work(deadline)
    } catch (error) {
      if (!(error instanceof StoreError) || !error.isTransient) throw error
      if (performance.now() + waitMs >= until) throw error
    }
    await Bun.sleep(waitMs)
  }
}
