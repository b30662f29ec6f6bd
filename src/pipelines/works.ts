import type { Context } from '../context.ts'
import { onePer } from '../platform/one-per.ts'

const worksOf = onePer((_: Context) => new Set<Promise<unknown>>())

/** Remembers what goes on without a request until it is done, so that stopping can wait for it. */
export function trackWork<T>(ctx: Context, work: Promise<T>): Promise<T> {
  const works = worksOf(ctx)
  works.add(work)
  return work.finally(() => works.delete(work))
}

/** Waits for all that goes on, but no longer than `mostMs`. */
export async function settleWorks(ctx: Context, mostMs: number): Promise<void> {
  const works = worksOf(ctx)
  if (works.size > 0) await Promise.race([Promise.allSettled(works), Bun.sleep(mostMs)])
}
