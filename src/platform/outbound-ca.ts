import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { getCACertificates } from 'node:tls'
import { ConfigError } from '../config.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates in the file of `NODE_EXTRA_CA_CERTS`. Throws `ConfigError` when there is none to be read. */
export function readExtraCas(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8')
    const certificates = certificatesOf(pem)
    if (certificates.length > 0) return certificates.join('\n')
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
  const own = getCACertificates('default')
  const known = new Set(own.map((certificate) => certificate.trim()))
  const added = certificatesOf(extraCaPem ?? '').filter((certificate) => !known.has(certificate))
  return added.length === 0 ? null : [...own, ...added]
}

function certificatesOf(pem: string): string[] {
  const certificates = pem.match(CERTIFICATE) ?? []
  for (const certificate of certificates) new X509Certificate(certificate)
  return [...certificates]
}
