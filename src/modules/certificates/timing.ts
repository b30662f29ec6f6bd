import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from '../../domain/durations.ts'
import { AcmeError } from '../../platform/acme/error.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { NotSharedError } from './not-shared-error.ts'
import type { Renewal } from './renewal.ts'

/** The timeout of an order. */
export const ORDER_MS = 5 * MINUTE_MS
/** Orders in flight. */
export const MAX_AT_ONCE = 2
/** New hosts per hour. Let's Encrypt allows 300 orders in three hours. */
export const MAX_NEW_AN_HOUR = 30
/** The part of them for one project, which can add and delete domains at will. The rest is for the others. */
export const MAX_NEW_OF_PROJECT = 20
/** Hosts of aliases per hour. They share a registered domain, for which Let's Encrypt issues 50 certificates a week. */
export const MAX_ALIASES_AN_HOUR = 6
export const MAX_ALIASES_A_WEEK = 30

type Lifetime = { notBefore: number; expiresAt: number }
type Owned = Lifetime & { directory: string }
type Schedule = { certificate: Owned | null; renewal: Renewal | null; nextTryAt: number }

/** When to order next. A certificate of another authority (`ACME_DIRECTORY` changed) is replaced at once. */
export function dueAt({ certificate, renewal, nextTryAt }: Schedule, authority: string): number {
  if (certificate === null || certificate.directory !== authority) return nextTryAt
  return Math.max(nextTryAt, renewalAt(certificate, renewal))
}

/** The moment that the authority suggested. Without one, or if that comes too late, when a third of the lifetime is left. */
export function renewalAt(certificate: Lifetime, renewal: Renewal | null): number {
  const suggested = renewal?.at ?? null
  return suggested !== null && suggested < certificate.expiresAt ? suggested : renewAt(certificate)
}

/** When a third of its lifetime is left. */
export const renewAt = ({ notBefore, expiresAt }: Lifetime): number => expiresAt - (expiresAt - notBefore) / 3

/**
 * The earliest renewal of a certificate that was just issued; 0 if its normal time applies. A certificate whose
 * lifetime is mostly over on arrival, because of the authority or a wrong clock, would be due at once, and so would the
 * next one. It has to last for two thirds of the time that is left, and at least for a minute.
 */
export const restUntil = (issued: Lifetime, now: number): number =>
  renewAt(issued) > now + MINUTE_MS ? 0 : now + Math.max(MINUTE_MS, ((issued.expiresAt - now) * 2) / 3)

/**
 * The earliest renewal of one that took the place of another. An authority that wants each renewed at once would be
 * asked without end: what replaced a certificate of less than a day is left for a day.
 */
export function restOfRenewed(replaced: Owned | null, issued: Owned, now: number): number {
  const isQuick = replaced?.directory === issued.directory && now - replaced.notBefore < DAY_MS
  return Math.max(restUntil(issued, now), isQuick ? Math.min(now + DAY_MS, renewAt(issued)) : 0)
}

/**
 * The delay after the n-th failure in a row: 5 minutes, doubling up to a day, plus or minus a fifth at random. While a
 * certificate runs out, at most a quarter of the time that is left, and an hour if the host is not at fault.
 */
export function retryDelayMs(after: {
  failures: number
  /** Time left of the current certificate. */
  leftMs: number
  isElsewhere: boolean
  /** 0 to 1. */
  random: number
}): number {
  const { failures, leftMs, isElsewhere, random } = after
  const maxMs = leftMs > 0 ? Math.max(5 * MINUTE_MS, leftMs / 4) : DAY_MS
  const plain = Math.min(
    5 * MINUTE_MS * 2 ** Math.min(failures - 1, 20),
    maxMs,
    isElsewhere ? HOUR_MS : DAY_MS,
  )
  return plain * (0.8 + 0.4 * random)
}

/** How long all hosts wait when the authority itself is at fault: a minute, doubling up to an hour. */
export const authorityPauseMs = (failures: number): number =>
  Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), HOUR_MS)

/** How long a person must wait after a failure. Let's Encrypt locks a host for an hour after five in one hour. */
export const manualDelayMs = (failures: number): number =>
  failures <= 1 ? failures * 20_000 : Math.min(failures * failures, 15) * MINUTE_MS

/** How long the authority asks us to wait; an hour if it only reports too many requests. At most a week. */
export function blockMs(error: unknown): number {
  if (!(error instanceof AcmeError)) return 0
  const asked = error.retryAfterMs ?? (error.type === 'rateLimited' ? HOUR_MS : 0)
  return Math.min(asked, WEEK_MS)
}

/** True for errors that the host cannot fix: the authority is unreachable, broken, or limits us, or the object store is away. */
export function isAuthorityAtFault(error: unknown): boolean {
  if (error instanceof NotSharedError) return true
  if (!(error instanceof AcmeError)) return error instanceof OutboundError || isTimeout(error)
  return error.status >= 500 || error.type === 'rateLimited' || error.type === 'serverInternal'
}

/** One sentence for the log and the page. */
export function reasonOf(error: unknown): string {
  if (error instanceof AcmeError) return error.message
  if (error instanceof OutboundError)
    return `The certificate authority could not be reached. ${error.message}`
  if (error instanceof NotSharedError)
    return `The object store does not take certificates and answers to the authority. ${error.message}`
  if (isTimeout(error)) return 'The order took too long and was given up'
  return 'Something went wrong on this server; see its log'
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'
