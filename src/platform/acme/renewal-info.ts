import { X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import type { AcmeClient } from './client.ts'
import { type DerValue, derValues, OID, oid } from './der.ts'
import { AcmeError, fieldsOf } from './error.ts'

/** When the authority suggests to renew a certificate, in milliseconds since 1970. RFC 9773 §4.2. */
export type RenewalInfo = { start: number; end: number; askAgainMs: number }

const MIN_AGAIN_MS = MINUTE_MS
const MAX_AGAIN_MS = DAY_MS
/** Where the authority does not say. RFC 9773 §4.3.3. */
const AGAIN_MS = 6 * HOUR_MS

/** Null where the authority never suggests any. Rejects as `AcmeClient` does. */
export async function askRenewalInfo(
  client: AcmeClient,
  certPem: string,
  signal: AbortSignal,
): Promise<RenewalInfo | null> {
  const id = certificateId(certPem)
  const answer = id === null ? null : await client.renewalInfo(id, signal)
  if (answer === null) return null
  const window = fieldsOf(answer.json['suggestedWindow'])
  const [start, end] = [momentOf(window['start']), momentOf(window['end'])]
  if (!(start < end)) throw new AcmeError('The certificate authority names no time in which to renew')
  return { start, end, askAgainMs: askAgainMs(answer.retryAfterMs) }
}

/** How long to wait before asking again, as the authority wants it (`Retry-After`) within bounds. */
export const askAgainMs = (retryAfterMs: number | null): number =>
  Math.min(Math.max(retryAfterMs ?? AGAIN_MS, MIN_AGAIN_MS), MAX_AGAIN_MS)

/** Names the first certificate of a chain; null where that does not name the key of its issuer. RFC 9773 §4.1. */
export function certificateId(certPem: string): string | null {
  try {
    const [body] = inside(new X509Certificate(certPem).raw)
    const fields = body === undefined ? [] : derValues(body.content)
    const serial = fields.find(({ tag }) => tag === INTEGER)
    const issuer = issuerKeyOf(fields.find(({ tag }) => tag === EXTENSIONS))
    if (serial === undefined || issuer === undefined) return null
    return `${issuer.content.toString('base64url')}.${serial.content.toString('base64url')}`
  } catch {
    return null
  }
}

const INTEGER = 0x02
/** RFC 5280 §4.1: `extensions [3]`; §4.2.1.1: `keyIdentifier [0]`. */
const EXTENSIONS = 0xa3
const KEY_IDENTIFIER = 0x80

function issuerKeyOf(extensions: DerValue | undefined): DerValue | undefined {
  const parts = (extensions === undefined ? [] : inside(extensions.content)).map(({ content }) =>
    derValues(content),
  )
  const value = parts.find(([id]) => id?.whole.equals(oid(OID.authorityKeyIdentifier)))?.at(-1)
  return value && inside(value.content).find(({ tag }) => tag === KEY_IDENTIFIER)
}

/** The parts of the one value in the bytes. */
const inside = (bytes: Buffer): DerValue[] => derValues(derValues(bytes)[0]?.content ?? Buffer.alloc(0))

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i

/** RFC 3339; NaN for anything else. */
const momentOf = (text: unknown): number =>
  typeof text === 'string' && TIME.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN
