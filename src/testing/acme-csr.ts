import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { type DerValue, derValues, OID, oid } from '../platform/acme/der.ts'

/** Parses a certificate signing request. Throws unless it is signed by its own key. RFC 2986. */
export function readCsr(bytes: Buffer): { names: string[]; publicKey: KeyObject } {
  const [info, , signature] = derValues(only(bytes).content)
  if (info === undefined || signature === undefined) throw new Error('The request is incomplete')
  const [version, subject, key, attributes] = derValues(info.content)
  if (version?.content[0] !== 0 || subject === undefined || key === undefined || attributes === undefined)
    throw new Error('The request lacks a part')
  const publicKey = createPublicKey({ key: key.whole, type: 'spki', format: 'der' })
  if (!verify('sha256', info.whole, publicKey, signature.content.subarray(1)))
    throw new Error('The request is not signed by its key')
  return { publicKey, names: namesOf(attributes) }
}

/** The DNS names in the extension request; rejects other extensions, like a strict authority. */
function namesOf(attributes: DerValue): string[] {
  const [type, set] = derValues(only(attributes.content).content)
  if (type === undefined || set === undefined || !type.whole.equals(oid(OID.extensionRequest)))
    throw new Error('The request has an unexpected attribute')
  const [extension] = derValues(only(set.content).content)
  const [kind, names] = extension === undefined ? [] : derValues(extension.content)
  if (kind === undefined || names === undefined || !kind.whole.equals(oid(OID.subjectAltName)))
    throw new Error('The request has an unexpected extension')
  return derValues(only(names.content).content).map(({ tag, content }) => {
    if (tag !== 0x82) throw new Error('The request has a name that is not a DNS name')
    return content.toString('latin1')
  })
}

function only(bytes: Buffer): DerValue {
  const [first, ...others] = derValues(bytes)
  if (first === undefined || others.length > 0) throw new Error('One value was expected')
  return first
}
