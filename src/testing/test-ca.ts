import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** A certificate and its key, both PEM. */
export type TestCertificate = { cert: string; key: string }

export type LeafOptions = {
  /** Subject alternative names: DNS names, wildcards too, and IPv4 addresses. */
  names: readonly string[]
  /** Milliseconds since 1970; valid for a day around now where nothing is given. */
  notBefore?: number
  notAfter?: number
  purpose?: 'server' | 'client'
}

export type TestCa = { pem: string; issue(options: LeafOptions): TestCertificate }

const DAY_MS = 86_400_000
const OID = {
  commonName: '2.5.4.3',
  ecPublicKeyWithSha256: '1.2.840.10045.4.3.2',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
} as const

/** A certificate authority of the test's own, made here because not every machine has an `openssl`. RFC 5280. */
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
    issue: (options) => issue(name, keys.privateKey, options),
  }
}

/** A certificate that only vouches for itself. */
export function selfSigned(names: readonly string[]): TestCertificate {
  return issue(null, null, { names })
}

function issue(issuer: string | null, issuerKey: KeyObject | null, options: LeafOptions): TestCertificate {
  const { names, purpose = 'server', notBefore, notAfter } = options
  const keys = newKeys()
  const subject = names[0] ?? 'nobody'
  const cert = certificate({
    subject,
    issuer: issuer ?? subject,
    publicKey: keys.publicKey,
    signer: issuerKey ?? keys.privateKey,
    notBefore: notBefore ?? Date.now() - DAY_MS,
    notAfter: notAfter ?? Date.now() + DAY_MS,
    extensions: [
      extension(OID.subjectAltName, sequence(...names.map(alternativeName))),
      extension(OID.extendedKeyUsage, sequence(oid(OID[purpose]))),
    ],
  })
  return { cert, key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
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
  const algorithm = sequence(oid(OID.ecPublicKeyWithSha256))
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
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, parts.signer)])
  const base64 = sequence(body, algorithm, der(0x03, signature)).toString('base64')
  const lines = base64.match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })

const distinguishedName = (name: string) =>
  sequence(der(0x31, sequence(oid(OID.commonName), der(0x0c, Buffer.from(name)))))

const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value))

const alternativeName = (name: string) =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name))

/** GeneralizedTime, to the second. */
const time = (ms: number) =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`))

const sequence = (...parts: readonly Buffer[]) => der(0x30, Buffer.concat(parts))

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Seven bits a byte, the highest bit set on all but the last. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
