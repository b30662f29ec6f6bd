import { networkOf } from '../domain/ip-ranges.ts'
import { isRecent } from '../domain/recent.ts'

/**
 * Counts failed sign-ins by email and address. After `LIMIT` failures in the window, that pair must wait; other
 * addresses need not. contract §3.
 */
export type Lockout = {
  /** Seconds until the pair may try again; 0 if it may now. */
  lockedForSeconds(email: string, ip: string): number
  fail(email: string, ip: string): void
  clear(email: string, ip: string): void
}

const LIMIT = 10
const WINDOW_MS = 15 * 60 * 1000
/** Above this many pairs the oldest is dropped, so that a flood of names cannot fill the memory. */
const MAX_PAIRS = 50_000

export function createLockout(now: () => number): Lockout {
  const failures = new Map<string, number[]>()
  const keyOf = (email: string, ip: string) => `${networkOf(ip)} ${email}`
  const recent = (key: string) => (failures.get(key) ?? []).filter((at) => isRecent(at, now(), WINDOW_MS))
  return {
    lockedForSeconds(email, ip) {
      const times = recent(keyOf(email, ip))
      const [first] = times
      return first === undefined || times.length < LIMIT ? 0 : Math.ceil((first + WINDOW_MS - now()) / 1000)
    },
    fail(email, ip) {
      const key = keyOf(email, ip)
      const times = [...recent(key), now()].slice(-LIMIT)
      failures.delete(key)
      failures.set(key, times)
      const oldest = failures.keys().next().value
      if (failures.size > MAX_PAIRS && oldest !== undefined) failures.delete(oldest)
    },
    clear: (email, ip) => void failures.delete(keyOf(email, ip)),
  }
}
