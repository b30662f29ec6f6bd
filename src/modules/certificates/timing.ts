import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from '../../domain/durations.ts'
import { AcmeError } from '../../platform/acme/error.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import type { HostRecord } from './host-record.ts'

/** An order that is not done by then is given up. */
export const ORDER_MS = 5 * MINUTE_MS
/** Orders in flight. */
export const MOST_AT_ONCE = 2
/** New hosts, in any hour: Let's Encrypt takes 300 orders in three hours. */
export const MOST_NEW_AN_HOUR = 30
/** Of them for one project, which may add and delete domains as it likes: the rest is for the others. */
export const MOST_NEW_OF_PROJECT = 20
/** Hosts of aliases: they share a registered domain, for which Let's Encrypt makes 50 certificates a week. */
export const MOST_ALIASES_AN_HOUR = 6
export const MOST_ALIASES_A_WEEK = 30

/** When the host's turn is. A certificate of another authority, as after a change of `ACME_DIRECTORY`, is replaced at once. */
export function dueAt({ certificate, nextTryAt }: HostRecord, authority: string): number {
  if (certificate === null || certificate.directory !== authority) return nextTryAt
  return Math.max(nextTryAt, renewAt(certificate))
}

type Lifetime = { notBefore: number; expiresAt: number }

/** With a third of its time left. */
export const renewAt = ({ notBefore, expiresAt }: Lifetime): number => expiresAt - (expiresAt - notBefore) / 3

/**
 * When a certificate that has just come may be replaced; 0 for when it is due. One that comes with most of its time gone,
 * by the authority's doing or by a clock that is wrong, would be due at once, and so would the next: it has to do for two
 * thirds of what is left, and for a minute.
 */
export const restUntil = (issued: Lifetime, now: number): number =>
  renewAt(issued) > now + MINUTE_MS ? 0 : now + Math.max(MINUTE_MS, ((issued.expiresAt - now) * 2) / 3)

/**
 * The wait after the n-th failure in a row: 5 minutes, doubling up to a day, spread by a fifth either way. While a
 * certificate runs out it is at most a quarter of what is left, and an hour where the host is not to blame.
 */
export function retryDelayMs(after: {
  failures: number
  /** Of the certificate that is there. */
  leftMs: number
  isElsewhere: boolean
  /** 0 to 1. */
  random: number
}): number {
  const { failures, leftMs, isElsewhere, random } = after
  const most = leftMs > 0 ? Math.max(5 * MINUTE_MS, leftMs / 4) : DAY_MS
  const plain = Math.min(
    5 * MINUTE_MS * 2 ** Math.min(failures - 1, 20),
    most,
    isElsewhere ? HOUR_MS : DAY_MS,
  )
  return plain * (0.8 + 0.4 * random)
}

/** All hosts wait so long when the authority itself is at fault: a minute, doubling up to an hour. */
export const authorityPauseMs = (failures: number): number =>
  Math.min(MINUTE_MS * 2 ** Math.min(failures - 1, 20), HOUR_MS)

/** How long a person must wait after the last failed try: Let's Encrypt locks a host for an hour after five in one. */
export const manualDelayMs = (failures: number): number =>
  failures <= 1 ? failures * 20_000 : Math.min(failures * failures, 15) * MINUTE_MS

/** What the authority asks for; an hour where it only says that it was too much. Never more than a week. */
export function blockMs(error: unknown): number {
  if (!(error instanceof AcmeError)) return 0
  const asked = error.retryAfterMs ?? (error.type === 'rateLimited' ? HOUR_MS : 0)
  return Math.min(asked, WEEK_MS)
}

/** Nothing that the host could do better: the authority is away, ill, or has had enough. */
export function isAuthorityAtFault(error: unknown): boolean {
  if (!(error instanceof AcmeError)) return error instanceof OutboundError || isTimeout(error)
  return error.status >= 500 || error.type === 'rateLimited' || error.type === 'serverInternal'
}

/** One sentence for the log and the page. */
export function reasonOf(error: unknown): string {
  if (error instanceof AcmeError) return error.message
  if (error instanceof OutboundError) return `The certificate authority could not be asked. ${error.message}`
  if (isTimeout(error)) return 'The certificate authority took longer than five minutes'
  return 'Something went wrong in this server; its log says what'
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'
