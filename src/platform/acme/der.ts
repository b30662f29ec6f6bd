/** One value of ASN.1: tag, length, content. X.690 §8.1. */
export function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts))

/** One value as it was read: `whole` includes its tag and length. */
export type DerValue = { tag: number; content: Buffer; whole: Buffer }

/** The values that follow each other in the bytes. Throws if one is cut off. */
export function derValues(bytes: Buffer): DerValue[] {
  const found: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = bytes[at + 1] ?? 0
    const lengthBytes = size < 0x80 ? 0 : size - 0x80
    const length = lengthBytes === 0 ? size : bytes.readUIntBE(at + 2, lengthBytes)
    const start = at + 2 + lengthBytes
    const whole = bytes.subarray(at, start + length)
    if (whole.length !== start + length - at) throw new Error('A value is truncated')
    found.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, start + length), whole })
    at = start + length
  }
  return found
}

/** BIT STRING of whole bytes. */
export const bitString = (bytes: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.from([0]), bytes]))

/** OBJECT IDENTIFIER, from its dotted form. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

export const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  extensionRequest: '1.2.840.113549.1.9.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

/** Seven bits per byte; the highest bit is set on all but the last. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}
