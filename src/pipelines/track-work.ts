import type { Context } from '../context.ts'
import { onePer } from '../platform/one-per.ts'

/** A work is a promise that runs outside any request, such as post steps after their response. */
const worksOf = onePer((_: Context) => new Set<Promise<unknown>>())

/** Keeps the work until it is done, so that the server can wait for it when it stops. */
export function trackWork<T>(ctx: Context, work: Promise<T>): Promise<T> {
  const works = worksOf(ctx)
  works.add(work)
  return work.finally(() => works.delete(work))
}

/** Waits for all works, but at most `mostMs`. */
export async function settleWorks(ctx: Context, mostMs: number): Promise<void> {
  const works = worksOf(ctx)
  if (works.size > 0) await Promise.race([Promise.allSettled(works), Bun.sleep(mostMs)])
}
