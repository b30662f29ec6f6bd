import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from 'node:crypto'
import { bitString, der, OID, oid, sequence } from './der.ts'

/** A new private key on P-256, for an account or a certificate. */
export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

export const keyToPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Throws if the text is not a private key. */
export const keyFromPem = (pem: string): KeyObject => createPrivateKey(pem)

/** The public key as it appears in a JWS. RFC 7517. */
export function jwkOf(key: KeyObject): { crv: string; kty: string; x: string; y: string } {
  const { crv = '', kty = '', x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { crv, kty, x, y }
}

/** Proves that the account requested the challenge; part of every challenge response. RFC 8555 §8.1, RFC 7638. */
export function keyAuthorization(key: KeyObject, token: string): string {
  // A thumbprint needs its members in alphabetical order, which is the order of jwkOf.
  const thumbprint = createHash('sha256')
    .update(JSON.stringify(jwkOf(key)))
    .digest('base64url')
  return `${token}.${thumbprint}`
}

/** A signed request in flattened JWS form. `payload` null makes a POST-as-GET. RFC 7515 §7.2.2, RFC 8555 §6.2. */
export function signJws(key: KeyObject, header: Record<string, unknown>, payload: unknown): string {
  const protectedPart = base64url(JSON.stringify({ alg: 'ES256', ...header }))
  const payloadPart = payload === null ? '' : base64url(JSON.stringify(payload))
  const signed = Buffer.from(`${protectedPart}.${payloadPart}`)
  const signature = sign('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return JSON.stringify({ protected: protectedPart, payload: payloadPart, signature })
}

/** A certificate request for these hosts, in DER. RFC 2986. Only the extension contains the names, RFC 8555 §7.4. */
export function certificateRequest(key: KeyObject, hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => der(0x82, Buffer.from(host)))
  const extension = sequence(oid(OID.subjectAltName), der(0x04, sequence(...names)))
  const attribute = sequence(oid(OID.extensionRequest), der(0x31, sequence(extension)))
  const info = sequence(
    der(0x02, Buffer.from([0])),
    sequence(),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    der(0xa0, attribute),
  )
  return sequence(info, sequence(oid(OID.ecdsaWithSha256)), bitString(sign('sha256', info, key)))
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')
