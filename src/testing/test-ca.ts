import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { isIPv4 } from 'node:net'
import { DAY_MS } from '../domain/durations.ts'
import { bitString, der, OID, oid, sequence } from '../platform/acme/der.ts'

/** A certificate and its key, both PEM. */
export type TestCertificate = { cert: string; key: string }

export type LeafOptions = {
  /** Subject alternative names: DNS names, including wildcards, and IPv4 addresses. */
  names: readonly string[]
  /** Milliseconds since 1970; by default valid for a day around now. */
  notBefore?: number
  notAfter?: number
  purpose?: 'server' | 'client'
}

export type TestCa = {
  pem: string
  /** Which names its key in what it issues. RFC 5280 §4.2.1.1. */
  keyId: Buffer
  issue(options: LeafOptions): TestCertificate
  /** For another party's key: returns only the certificate. */
  certify(publicKey: KeyObject, options: LeafOptions): string
}

/** The test's own certificate authority, built here because not every machine has `openssl`. RFC 5280. */
export function createTestCa(name = 'Test CA'): TestCa {
  const keys = newKeys()
  const authority = [
    extension(OID.basicConstraints, sequence(der(0x01, Buffer.from([0xff])))),
    extension(OID.keyUsage, der(0x03, Buffer.from([0x02, 0x04]))),
  ]
  const now = Date.now()
  return {
    pem: certificate({
      subject: name,
      issuer: name,
      publicKey: keys.publicKey,
      signer: keys.privateKey,
      notBefore: now - DAY_MS,
      notAfter: now + DAY_MS,
      extensions: authority,
    }),
    keyId: keyIdOf(keys.publicKey),
    issue: (options) => issue(name, keys.privateKey, options),
    certify: (publicKey, options) => leaf(name, keys.privateKey, publicKey, options),
  }
}

/** A self-signed certificate. */
export function selfSigned(names: readonly string[]): TestCertificate {
  return issue(null, null, { names })
}

function issue(issuer: string | null, issuerKey: KeyObject | null, options: LeafOptions): TestCertificate {
  const keys = newKeys()
  const subject = options.names[0] ?? 'nobody'
  const cert = leaf(issuer ?? subject, issuerKey ?? keys.privateKey, keys.publicKey, options)
  return { cert, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

function leaf(issuer: string, signer: KeyObject, publicKey: KeyObject, options: LeafOptions): string {
  const { names, purpose = 'server', notBefore, notAfter } = options
  return certificate({
    subject: names[0] ?? 'nobody',
    issuer,
    publicKey,
    signer,
    notBefore: notBefore ?? Date.now() - DAY_MS,
    notAfter: notAfter ?? Date.now() + DAY_MS,
    extensions: [
      extension(OID.subjectAltName, sequence(...names.map(alternativeName))),
      extension(OID.extendedKeyUsage, sequence(oid(purpose === 'server' ? OID.serverAuth : OID.clientAuth))),
      extension(OID.authorityKeyIdentifier, sequence(der(0x80, keyIdOf(createPublicKey(signer))))),
    ],
  })
}

type Parts = {
  subject: string
  issuer: string
  publicKey: KeyObject
  signer: KeyObject
  notBefore: number
  notAfter: number
  extensions: readonly Buffer[]
}

function certificate(parts: Parts): string {
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    distinguishedName(parts.issuer),
    sequence(time(parts.notBefore), time(parts.notAfter)),
    distinguishedName(parts.subject),
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...parts.extensions)),
  )
  const base64 = sequence(body, algorithm, bitString(sign('sha256', body, parts.signer))).toString('base64')
  const lines = base64.match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const keyIdOf = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

const distinguishedName = (name: string) =>
  sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(name)))))

const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value))

const alternativeName = (name: string) =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))

/** GeneralizedTime, to the second. */
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`))
