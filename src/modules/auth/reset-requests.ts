import type { Context } from '../../context.ts'

/** How often one email may be mailed a link: so many an hour, so that nobody's inbox can be flooded from here. */
const MOST = 3
const WINDOW_MS = 60 * 60 * 1000
const MOST_EMAILS = 10_000

type Requests = { take(email: string): { isOver: boolean } }

const all = new WeakMap<Context, Requests>()

/** Counts by email, known or not. Kept in memory: a restart forgives. */
export function resetRequests(ctx: Context): Requests {
  const known = all.get(ctx)
  if (known !== undefined) return known
  const times = new Map<string, number[]>()
  const requests: Requests = {
    take(email) {
      const recent = (times.get(email) ?? []).filter((at) => ctx.now() - at < WINDOW_MS)
      if (recent.length >= MOST) return { isOver: true }
      times.delete(email)
      times.set(email, [...recent, ctx.now()])
      const oldest = times.keys().next().value
      if (times.size > MOST_EMAILS && oldest !== undefined) times.delete(oldest)
      return { isOver: false }
    },
  }
  all.set(ctx, requests)
  return requests
}
