import type { AppError } from '../domain/errors.ts'

type Limits = { atOnce: number; waiting: number; refusal: () => AppError }

/** Runs `atOnce` jobs, lets `waiting` more wait in order, and rejects the rest, so that a flood cannot pile up. */
export function boundedQueue({ atOnce, waiting, refusal }: Limits): <T>(job: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = []
  let running = 0
  const enter = (): Promise<void> | undefined => {
    if (running < atOnce) {
      running += 1
      return undefined
    }
    if (queue.length >= waiting) throw refusal()
    return new Promise((resolve) => queue.push(resolve))
  }
  /** Passes the place to the next in the queue, so that no new job can take it first. */
  const leave = (): void => {
    const next = queue.shift()
    if (next === undefined) running -= 1
    else next()
  }
  return async (job) => {
    await enter()
    try {
      return await job()
    } finally {
      leave()
    }
  }
}
