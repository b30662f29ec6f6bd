import { HOUR_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import type { Issued } from '../../platform/acme/order.ts'
import { manualDelayMs } from './timing.ts'

/** What is known of one host, and outlives a restart. Times in milliseconds since 1970. */
export type HostRecord = {
  host: string
  /** The host of an alias; else the admin's or a domain. */
  isAlias: boolean
  /** The authority that was asked last. */
  directory: string
  certificate: (Issued & { directory: string }) | null
  /** In a row. */
  failures: number
  /** When it was asked for the very first time, for the limit of new hosts. */
  firstTriedAt: number | null
  triedAt: number | null
  nextTryAt: number
  /** The authority wants to be left alone until then, by people too. */
  blockedUntil: number
  error: string | null
}

/** Nothing went wrong. */
export const FRESH = { failures: 0, nextTryAt: 0, blockedUntil: 0, error: null }

export const emptyRecord = (host: string): HostRecord => ({
  ...FRESH,
  host,
  isAlias: false,
  directory: '',
  certificate: null,
  firstTriedAt: null,
  triedAt: null,
})

/** What another authority said does not count at this one. */
export const asAskedAt = (record: HostRecord, authority: string): HostRecord =>
  record.directory === authority ? record : { ...record, ...FRESH }

/** Tries that a clock noted which was far ahead do not count: the host would wait until that time comes, perhaps a year. */
export function forgetAhead(record: HostRecord, now: number): void {
  if ((record.triedAt ?? 0) <= now + HOUR_MS) return
  Object.assign(record, FRESH, { triedAt: null, firstTriedAt: now })
}

/** Throws 429 where even a person has to wait. */
export function refuseTooSoon({ blockedUntil, triedAt, failures }: HostRecord, now: number): void {
  const mayAt = Math.max(blockedUntil, (triedAt ?? 0) + manualDelayMs(failures))
  if (mayAt <= now) return
  const seconds = Math.ceil((mayAt - now) / 1000)
  const who =
    blockedUntil > now ? 'The certificate authority wants to be left alone' : 'It was tried just now'
  const wait = seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
  throw new AppError('rate_limited', `${who}. Try again in ${wait}.`, {
    headers: { 'retry-after': String(seconds) },
  })
}
