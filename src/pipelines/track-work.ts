import type { Context } from '../context.ts'
import { onePer } from '../platform/one-per.ts'

/** The work that runs outside any request, such as post steps after their response, and is not done yet. */
const runningOf = onePer((_: Context) => new Set<Promise<unknown>>())

/** Keeps the work until it is done, so that the server can wait for it when it stops. */
export function trackWork<T>(ctx: Context, work: Promise<T>): Promise<T> {
  const running = runningOf(ctx)
  running.add(work)
  return work.finally(() => running.delete(work))
}

/** Waits for all tracked work, but at most `maxMs`. */
export async function waitForWork(ctx: Context, maxMs: number): Promise<void> {
  const running = runningOf(ctx)
  if (running.size > 0) await Promise.race([Promise.allSettled(running), Bun.sleep(maxMs)])
}
