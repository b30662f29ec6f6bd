import { randomBytes } from 'node:crypto'
import { base32 } from 'oslo/encoding'
import { createTOTPKeyURI, generateHOTP } from 'oslo/otp'
import { equalsInConstantTime } from './tokens.ts'

export const STEP_MS = 30_000
/** Phone clocks are off by some seconds, so the previous and the next step are accepted too. RFC 6238 §5.2. */
const DRIFT = [-1, 0, 1]
const NO_PADDING = { includePadding: false }

/** A new secret of 20 bytes in base32, as people type it into their app. RFC 4226 §4. */
export const newTotpSecret = (): string => base32.encode(randomBytes(20), NO_PADDING)

/**
 * The content of the QR code. `issuer` is the name that the app shows above the account. Spaces become %20, because
 * apps show a plus literally; a literal plus is already encoded.
 */
export const otpauthUrl = (issuer: string, account: string, secret: string): string =>
  createTOTPKeyURI(issuer, account, base32.decode(secret, { strict: false })).replaceAll('+', '%20')

/** The six digits, however they were grouped; null for anything else. */
export function asTotpCode(text: string): string | null {
  const digits = text.replace(/\s/g, '')
  return /^\d{6}$/.test(digits) ? digits : null
}

/**
 * The time step of the code; null if it matches none in the window around `now` (ms). The caller stores the last used
 * step and accepts only later ones, so that each code works once.
 */
export async function matchingStep(secret: string, code: string, now: number): Promise<number | null> {
  const key = base32.decode(secret, { strict: false })
  const current = Math.floor(now / STEP_MS)
  const steps = DRIFT.map((drift) => current + drift)
  const expected = await Promise.all(steps.map((step) => generateHOTP(key, step)))
  // Compares all of them, so that the time does not reveal which step matched.
  const matches = steps.filter((_, index) => equalsInConstantTime(expected[index] ?? '', code))
  return matches.at(-1) ?? null
}

/** The code of the step at `now`, as an authenticator app shows it. */
export const totpCodeAt = (secret: string, now: number): Promise<string> =>
  generateHOTP(base32.decode(secret, { strict: false }), Math.floor(now / STEP_MS))
