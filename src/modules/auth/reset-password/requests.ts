import type { Context } from '../../../context.ts'
import { HOUR_MS } from '../../../domain/durations.ts'
import { isRecent } from '../../../domain/recent.ts'
import { onePer } from '../../../platform/one-per.ts'

/** How many reset links one email may be sent per hour, so that nobody's inbox can be flooded from here. */
const MAX_REQUESTS = 3
const WINDOW_MS = HOUR_MS
const MAX_EMAILS = 10_000

type Requests = { take(email: string): { isOver: boolean } }

/** Counts by email, known or not. Kept in memory: a restart resets it. */
export const resetRequests = onePer((ctx: Context): Requests => {
  const times = new Map<string, number[]>()
  return {
    take(email) {
      const recent = (times.get(email) ?? []).filter((at) => isRecent(at, ctx.now(), WINDOW_MS))
      if (recent.length >= MAX_REQUESTS) return { isOver: true }
      times.delete(email)
      times.set(email, [...recent, ctx.now()])
      const oldest = times.keys().next().value
      if (times.size > MAX_EMAILS && oldest !== undefined) times.delete(oldest)
      return { isOver: false }
    },
  }
})
