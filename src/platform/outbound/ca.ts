import { readFileSync } from 'node:fs'
import { ConfigError } from '../../config/config.ts'
import { IS_UTF16, textOf } from '../../domain/text-file.ts'
import { PEM_CERTIFICATE } from '../certificates.ts'

/** The certificates in the file of `NODE_EXTRA_CA_CERTS`. Throws `ConfigError` if there are none to read. */
export function readExtraCas(path: string): string {
  let text: string | null = ''
  try {
    text = textOf(readFileSync(path))
    const certificates = [...(text ?? '').matchAll(PEM_CERTIFICATE)]
    if (certificates.length > 0 && certificates.every(([, body = '']) => isDerSequence(body)))
      return certificates.map(([whole]) => whole).join('\n')
  } catch {
    // An unreadable file and an invalid certificate get the same message.
  }
  if (text === null) throw new ConfigError(`NODE_EXTRA_CA_CERTS is "${path}", which ${IS_UTF16}`)
  throw new ConfigError(`NODE_EXTRA_CA_CERTS is "${path}", but must be a readable file of PEM certificates`)
}

/**
 * The trusted CAs for the `ca` option of a connection, which replaces Bun's own list; null keeps that list. It has the
 * built-in CAs, those of the system, and those of `NODE_EXTRA_CA_CERTS` if that was set when the process started. If
 * there is nothing to add, null saves a connection 0.4 ms of loading them all again.
 */
export function trustedCas(extraCaPem: string | null): readonly string[] | null {
  if (extraCaPem === null) return null
  const own = process.getBuiltinModule('node:tls').getCACertificates('default')
  const known = new Set(own.map((certificate) => certificate.trim()))
  const extra = extraCaPem.match(PEM_CERTIFICATE) ?? []
  const added = extra.filter((certificate) => !known.has(certificate))
  return added.length === 0 ? null : [...own, ...added]
}

/**
 * A quick outer check of a certificate: one SEQUENCE of its declared length (X.690 §8.9). Parsing the system's whole
 * list would delay the start by loading node:crypto; a connection parses it later.
 */
function isDerSequence(base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64')
  const lengthBytes = (bytes[1] ?? 0) - 0x80
  if (bytes[0] !== 0x30 || lengthBytes < 1 || lengthBytes > 3 || bytes.length < 2 + lengthBytes) return false
  return bytes.readUIntBE(2, lengthBytes) === bytes.length - 2 - lengthBytes
}
