import { MINUTE_MS } from '../domain/durations.ts'
import { isRecent } from '../domain/recent.ts'

/** Counts requests in fixed windows of a minute. Kept in memory, so a restart resets it. spec: Limits. */
type RateLimiter = {
  /** Counts one request. */
  take(key: string): RateState
}
export type RateState = {
  limit: number
  remaining: number
  resetSeconds: number
  isOver: boolean
  retryAfterSeconds: number
}

const WINDOW_MS = MINUTE_MS
/** Limits memory when many addresses send requests: above this, the oldest are dropped. */
const MAX_KEYS = 100_000

export function createRateLimiter(limit: number, now: () => number): RateLimiter {
  const windows = new Map<string, { startedAt: number; count: number }>()
  return {
    take(key) {
      const at = now()
      const known = windows.get(key)
      const window =
        known !== undefined && isRecent(known.startedAt, at, WINDOW_MS) ? known : { startedAt: at, count: 0 }
      window.count += 1
      if (window !== known) remember(windows, key, window)
      const endsAt = window.startedAt + WINDOW_MS
      return {
        limit,
        remaining: Math.max(0, limit - window.count),
        resetSeconds: Math.ceil(endsAt / 1000),
        isOver: window.count > limit,
        retryAfterSeconds: Math.max(1, Math.ceil((endsAt - at) / 1000)),
      }
    },
  }
}

function remember<T>(windows: Map<string, T>, key: string, window: T): void {
  windows.delete(key)
  windows.set(key, window)
  if (windows.size <= MAX_KEYS) return
  const oldest = windows.keys().next().value
  if (oldest !== undefined) windows.delete(oldest)
}

/** Sets the three headers of every API response. */
export function setRateHeaders(headers: Headers, state: RateState): void {
  headers.set('X-RateLimit-Limit', String(state.limit))
  headers.set('X-RateLimit-Remaining', String(state.remaining))
  headers.set('X-RateLimit-Reset', String(state.resetSeconds))
}
