import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { OID, oid } from '../platform/acme/der.ts'

/** A DER value: `whole` includes its tag and length. */
type Value = { tag: number; content: Buffer; whole: Buffer }

/** Parses a certificate signing request. Throws unless it is signed by its own key. RFC 2986. */
export function readCsr(bytes: Buffer): { names: string[]; publicKey: KeyObject } {
  const [info, , signature] = values(only(bytes).content)
  if (info === undefined || signature === undefined) throw new Error('The request is incomplete')
  const [version, subject, key, attributes] = values(info.content)
  if (version?.content[0] !== 0 || subject === undefined || key === undefined || attributes === undefined)
    throw new Error('The request lacks a part')
  const publicKey = createPublicKey({ key: key.whole, type: 'spki', format: 'der' })
  if (!verify('sha256', info.whole, publicKey, signature.content.subarray(1)))
    throw new Error('The request is not signed by its key')
  return { publicKey, names: namesOf(attributes) }
}

/** The DNS names in the extension request; rejects other extensions, like a strict authority. */
function namesOf(attributes: Value): string[] {
  const [type, set] = values(only(attributes.content).content)
  if (type === undefined || set === undefined || !type.whole.equals(oid(OID.extensionRequest)))
    throw new Error('The request has an unexpected attribute')
  const [extension] = values(only(set.content).content)
  const [kind, names] = extension === undefined ? [] : values(extension.content)
  if (kind === undefined || names === undefined || !kind.whole.equals(oid(OID.subjectAltName)))
    throw new Error('The request has an unexpected extension')
  return values(only(names.content).content).map(({ tag, content }) => {
    if (tag !== 0x82) throw new Error('The request has a name that is not a DNS name')
    return content.toString('latin1')
  })
}

function only(bytes: Buffer): Value {
  const [first, ...others] = values(bytes)
  if (first === undefined || others.length > 0) throw new Error('One value was expected')
  return first
}

function values(bytes: Buffer): Value[] {
  const found: Value[] = []
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
