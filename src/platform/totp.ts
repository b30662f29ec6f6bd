import { randomBytes } from 'node:crypto'
import { base32 } from 'oslo/encoding'
import { createTOTPKeyURI, generateHOTP } from 'oslo/otp'
import { equalsInConstantTime } from './tokens.ts'

const STEP_MS = 30_000
/** Clocks of phones are off by some seconds: the step before and the one after count too. RFC 6238 §5.2. */
const DRIFT = [-1, 0, 1]
const NO_PADDING = { includePadding: false }

/** A new secret of 20 bytes in base32, as people type it into their app. RFC 4226 §4. */
export const newTotpSecret = (): string => base32.encode(randomBytes(20), NO_PADDING)

/**
 * What the QR code holds. `issuer` is the name that the app shows above the account. Apps read a space as %20 and would
 * show a plus as it is; a plus of the text itself is encoded already.
 */
export const otpauthUrl = (issuer: string, account: string, secret: string): string =>
  createTOTPKeyURI(issuer, account, base32.decode(secret, { strict: false })).replaceAll('+', '%20')

/** Six digits, however they were grouped; null for anything else. */
export function asTotpCode(text: string): string | null {
  const digits = text.replace(/\s/g, '')
  return /^\d{6}$/.test(digits) ? digits : null
}

/**
 * The time step whose code it is, null when it is none of the window around `now` (ms). The caller keeps the last step
 * that was used and takes only later ones, so that a code is good once.
 */
export async function matchingStep(secret: string, code: string, now: number): Promise<number | null> {
  const key = base32.decode(secret, { strict: false })
  const current = Math.floor(now / STEP_MS)
  const steps = DRIFT.map((drift) => current + drift)
  const expected = await Promise.all(steps.map((step) => generateHOTP(key, step)))
  // Every one is compared, so that the time does not tell which step it was.
  const matches = steps.filter((_, index) => equalsInConstantTime(expected[index] ?? '', code))
  return matches.at(-1) ?? null
}

/** The code of the step at `now`; what an authenticator app shows. */
export const totpCodeAt = (secret: string, now: number): Promise<string> =>
  generateHOTP(base32.decode(secret, { strict: false }), Math.floor(now / STEP_MS))
