import { CLI_PREFIX, KEY_PREFIX } from '../domain/key-header.ts'
import { randomBytes } from './random.ts'

/** 32 random bytes as 43 base64url characters, for session, refresh, reset, invitation and set-up tokens. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** The stored form of a token: its SHA-256 in lower-case hex. */
export const hashToken = (token: string): string => new Bun.CryptoHasher('sha256').update(token).digest('hex')

/** Compares two texts in time that does not depend on where they differ. */
export function equalsInConstantTime(a: string, b: string): boolean {
  const left = Buffer.from(hashToken(a))
  return crypto.timingSafeEqual(left, Buffer.from(hashToken(b)))
}

/** `svc_` and 43 base64url characters. contract §7. */
export const newApiKey = (): string => `${KEY_PREFIX}${newToken()}`

/** `svcp_` and 43 base64url characters. contract 16 §7. */
export const newCliToken = (): string => `${CLI_PREFIX}${newToken()}`

/** The part of a key that a list shows: enough to recognise it, too little to guess it. */
export const apiKeyPrefix = (key: string): string => key.slice(0, 12)
