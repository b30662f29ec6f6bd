import type { AppError } from '../domain/errors.ts'

type Limits = { waitingOfOne: number; waiting: number; refusal: () => AppError }

/**
 * Runs one job at a time. Those who ask take turns, each with one job, however many one of them has waiting; of one
 * `waitingOfOne` may wait, of all together `waiting`, and the rest is rejected.
 */
export function fairQueue({ waitingOfOne, waiting, refusal }: Limits) {
  /** Whoever is first is next. */
  const queues = new Map<string, (() => void)[]>()
  let isRunning = false
  let length = 0

  const enter = (who: string): Promise<void> | undefined => {
    if (!isRunning) {
      isRunning = true
      return undefined
    }
    const queue = queues.get(who) ?? []
    if (length >= waiting || queue.length >= waitingOfOne) throw refusal()
    queues.set(who, queue)
    length += 1
    return new Promise((resolve) => queue.push(resolve))
  }

  /** Passes the turn to whoever is next, so that no new job can take it first. */
  const leave = (): void => {
    const [next] = queues
    if (next === undefined) {
      isRunning = false
      return
    }
    const [who, queue] = next
    const start = queue.shift()
    queues.delete(who)
    if (queue.length > 0) queues.set(who, queue)
    length -= 1
    start?.()
  }

  return async <T>(who: string, job: () => Promise<T>): Promise<T> => {
    await enter(who)
    try {
      return await job()
    } finally {
      leave()
    }
  }
}
