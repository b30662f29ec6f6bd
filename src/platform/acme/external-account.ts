import { createHmac, type KeyObject } from 'node:crypto'
import { jwkOf } from './keys.ts'

/** An account that was made at the authority by other means: `ACME_EAB_KID` and `ACME_EAB_HMAC_KEY`. */
export type ExternalAccount = { kid: string; hmacKey: Buffer }

/** What ties a new account's key to that account, a JWS over the key. RFC 8555 §7.3.4. */
export function externalAccountBinding({ kid, hmacKey }: ExternalAccount, key: KeyObject, url: string) {
  const header = base64url({ alg: 'HS256', kid, url })
  const payload = base64url(jwkOf(key))
  const signature = createHmac('sha256', hmacKey).update(`${header}.${payload}`).digest('base64url')
  return { protected: header, payload, signature }
}

const base64url = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')
