import { HOUR_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import type { Issued } from '../../platform/acme/order.ts'
import type { Renewal } from './renewal.ts'
import { manualDelayMs } from './timing.ts'

/** What is known of one host, kept across restarts. Times in milliseconds since 1970. */
export type HostRecord = {
  host: string
  /** True for the host of an alias; false for the admin host and domains. */
  isAlias: boolean
  /** The authority that was asked last. */
  directory: string
  certificate: (Issued & { directory: string }) | null
  /** When the authority wants it renewed; null until it was asked. */
  renewal: Renewal | null
  /** Failures in a row. */
  failures: number
  /** When the host was first tried, for the limit on new hosts. */
  firstTriedAt: number | null
  triedAt: number | null
  nextTryAt: number
  /** Until then the authority refuses requests, also those by people. */
  blockedUntil: number
  error: string | null
  /** What stands in the DNS for the authority now, and has to be removed. */
  shown: ShownValue[]
  /** What a person has to set there, once. */
  toSet: { name: string; type: 'CNAME' | 'TXT'; value: string } | null
}

export type ShownValue = { name: string; value: string }

/** No failures. */
export const FRESH = { failures: 0, nextTryAt: 0, blockedUntil: 0, error: null }

export const emptyRecord = (host: string): HostRecord => ({
  ...FRESH,
  host,
  isAlias: false,
  directory: '',
  certificate: null,
  renewal: null,
  firstTriedAt: null,
  triedAt: null,
  shown: [],
  toSet: null,
})

/** Errors and waits of another authority do not count at this one. */
export const asAskedAt = (record: HostRecord, authority: string): HostRecord =>
  record.directory === authority ? record : { ...record, ...FRESH }

/** Ignores tries recorded by a clock that was far ahead: the host would wait until that time, perhaps a year. */
export function forgetAhead(record: HostRecord, now: number): void {
  if ((record.triedAt ?? 0) <= now + HOUR_MS) return
  Object.assign(record, FRESH, { triedAt: null, firstTriedAt: now })
}

/** Throws 429 when even a person has to wait. */
export function refuseTooSoon({ blockedUntil, triedAt, failures }: HostRecord, now: number): void {
  const mayAt = Math.max(blockedUntil, (triedAt ?? 0) + manualDelayMs(failures))
  if (mayAt <= now) return
  const seconds = Math.ceil((mayAt - now) / 1000)
  const who = blockedUntil > now ? 'The certificate authority has asked us to wait' : 'It was tried just now'
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  throw new AppError('rate_limited', `${who}. Try again in ${wait}.`, {
    headers: { 'retry-after': String(seconds) },
  })
}
