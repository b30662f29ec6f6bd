import type { Context } from '../context.ts'
import { MINUTE_MS } from '../domain/durations.ts'
import type { Stop } from '../platform/in-steps.ts'

const ROUND_MS = 10 * MINUTE_MS

export type Work = (stop: Stop) => void | Promise<void>

/**
 * Runs `work` periodically, never twice at once. A failure is logged, and the next round retries. The returned function
 * tells running work to stop and waits for it.
 */
export function every(
  { log }: Pick<Context, 'log'>,
  name: string,
  work: Work,
  { isFromNow = false, roundMs = ROUND_MS }: { isFromNow?: boolean; roundMs?: number } = {},
): () => Promise<void> {
  const stop = { aborted: false }
  let running: Promise<void> | undefined
  const round = async () => {
    try {
      await work(stop)
    } catch (error) {
      log.error('background work failed', { work: name, error })
    } finally {
      running = undefined
    }
  }
  const start = () => {
    running ??= round()
  }
  const timer = setInterval(start, roundMs)
  if (isFromNow) start()
  return async () => {
    stop.aborted = true
    clearInterval(timer)
    await running
  }
}
