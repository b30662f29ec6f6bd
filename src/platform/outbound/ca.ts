import { readFileSync } from 'node:fs'
import { ConfigError } from '../../config.ts'
import { PEM_CERTIFICATE } from '../certificates.ts'

/** The certificates in the file of `NODE_EXTRA_CA_CERTS`. Throws `ConfigError` when there is none to be read. */
export function readExtraCas(path: string): string {
  try {
    const certificates = [...readFileSync(path, 'utf8').matchAll(PEM_CERTIFICATE)]
    if (certificates.length > 0 && certificates.every(([, body = '']) => isDerSequence(body)))
      return certificates.map(([whole]) => whole).join('\n')
  } catch {
    // an unreadable file and a broken certificate get the same answer
  }
  throw new ConfigError(`NODE_EXTRA_CA_CERTS is "${path}", but must be a readable file of PEM certificates`)
}

/**
 * The CAs that count, for the `ca` of a connection, which replaces Bun's own; null leaves those alone. Bun's
 * own are built in, of the system, and of `NODE_EXTRA_CA_CERTS` where that was in the environment when the
 * process started: where nothing has to be added, a connection is spared 0.4 ms of reading them all again.
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
 * What every certificate is from outside: one SEQUENCE as long as it says (X.690 §8.9). Taking a system's whole list
 * apart would keep the start waiting for node:crypto; a connection does it.
 */
function isDerSequence(base64: string): boolean {
  const bytes = Buffer.from(base64, 'base64')
  const lengthBytes = (bytes[1] ?? 0) - 0x80
  if (bytes[0] !== 0x30 || lengthBytes < 1 || lengthBytes > 3 || bytes.length < 2 + lengthBytes) return false
  return bytes.readUIntBE(2, lengthBytes) === bytes.length - 2 - lengthBytes
}
