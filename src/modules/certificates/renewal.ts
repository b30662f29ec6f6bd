import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { AcmeError } from '../../platform/acme/error.ts'
import { askAgainMs, type RenewalInfo } from '../../platform/acme/renewal-info.ts'

/** What the authority suggested for a certificate. Times in milliseconds since 1970. */
export type Renewal = {
  /** The chosen moment of its window; null where it suggested none. */
  at: number | null
  askAt: number
}

/** A moment that was chosen stays while it lies in the window. RFC 9773 §4.2. */
export function renewalAfter(
  before: Renewal | null,
  info: RenewalInfo | null,
  { now, random }: { now: number; random: number },
): Renewal {
  if (info === null) return { at: null, askAt: now + DAY_MS }
  const { start, end } = info
  const chosen = before?.at ?? null
  const isInside = chosen !== null && chosen >= start && chosen <= end
  return { at: isInside ? chosen : start + (end - start) * random, askAt: now + info.askAgainMs }
}

/** What was known stays. The authority may ask for a longer or a shorter wait. */
export const renewalUnknown = (before: Renewal | null, error: unknown, now: number): Renewal => ({
  at: before?.at ?? null,
  askAt: now + askAgainMs(error instanceof AcmeError ? error.retryAfterMs : null),
})

/** A time further away than any wait was set by a clock that was ahead. */
export const mayAskRenewal = (renewal: Renewal | null, now: number): boolean =>
  renewal === null || renewal.askAt <= now || renewal.askAt > now + DAY_MS + HOUR_MS
