import { readFileSync, statSync } from 'node:fs'
import { messageOf } from '../../domain/errors.ts'
import { IS_UTF16, textOf } from '../../domain/text-file.ts'
import {
  type Certificate,
  type Certificates,
  coversHost,
  noCertificates,
  PEM_CERTIFICATE,
} from '../certificates.ts'
import type { Log } from '../log.ts'

type CertificateFiles = { certFile: string; keyFile: string }

/** A pair that cannot be served. The message begins with the setting at fault. */
export class CertificateFileError extends Error {}

const LOOK_EVERY_MS = 5_000

/**
 * The pair of `TLS=files`. It is read again when the files change and at `SIGHUP`. An unusable new pair is logged, and
 * the last one stays in use. Throws `CertificateFileError` if the first pair is unusable.
 */
export function openCertificateFiles(
  files: CertificateFiles,
  { log, now, lookEveryMs = LOOK_EVERY_MS }: { log: Log; now: () => number; lookEveryMs?: number },
): Certificates & { stop(): void } {
  const listeners = new Set<() => void>()
  let seen = stampOf(files)
  let current = readPair(files)
  warnIfExpired(current, { log, now })

  const read = () => {
    seen = stampOf(files)
    try {
      const next = readPair(files)
      if (next.certPem === current.certPem && next.keyPem === current.keyPem) return
      current = next
      log.info('the certificate was reloaded', fieldsOf(current))
      warnIfExpired(current, { log, now })
      for (const listener of listeners) listener()
    } catch (error) {
      const reason = messageOf(error)
      log.error('the new certificate cannot be served; the last one stays in use', { reason })
    }
  }
  const timer = setInterval(() => {
    if (stampOf(files) !== seen) read()
  }, lookEveryMs)
  process.on('SIGHUP', read)

  return {
    ...noCertificates,
    all: () => [current],
    stateOf: (host) => stateOf(current, host, now()),
    list: () =>
      current.hosts.map((host) => ({ host, method: 'file' as const, ...stateOf(current, host, now()) })),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    stop() {
      clearInterval(timer)
      process.off('SIGHUP', read)
    },
  }
}

/** Reads the pair and checks that the key belongs to the certificate. Throws `CertificateFileError`. */
export function readPair({ certFile, keyFile }: CertificateFiles): Certificate {
  const { X509Certificate, createPrivateKey } = process.getBuiltinModule('node:crypto')
  const certPem = readPem('TLS_CERT_FILE', certFile)
  const keyPem = readPem('TLS_KEY_FILE', keyFile)
  const chain = certPem.match(PEM_CERTIFICATE) ?? []
  const [leaf] = chain.map((block) =>
    parsed('TLS_CERT_FILE', certFile, 'certificates in PEM', () => new X509Certificate(block)),
  )
  if (leaf === undefined) throw unusable('TLS_CERT_FILE', certFile, 'hold a certificate in PEM')
  const key = parsed('TLS_KEY_FILE', keyFile, 'a key in PEM without a passphrase', () =>
    createPrivateKey(keyPem),
  )
  if (!leaf.checkPrivateKey(key))
    throw unusable('TLS_KEY_FILE', keyFile, `hold the key of the certificate in ${certFile}`)
  return { hosts: namesOf(leaf.subjectAltName), certPem, keyPem, expiresAt: Date.parse(leaf.validTo) }
}

function readPem(variable: string, file: string): string {
  const text = textOf(readFile(variable, file))
  if (text === null) throw new CertificateFileError(`${variable} is "${file}", which ${IS_UTF16}`)
  // Also between two files that were joined: PEM has only ASCII.
  return text.replaceAll('\ufeff', '')
}

function readFile(variable: string, file: string): Uint8Array {
  try {
    return readFileSync(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
    throw unusable(variable, file, `be a file that can be read${code}`)
  }
}

function parsed<T>(variable: string, file: string, what: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw unusable(variable, file, `hold ${what}`)
  }
}

const unusable = (variable: string, file: string, must: string) =>
  new CertificateFileError(`${variable} is "${file}", but must ${must}`)

/** The DNS names of `DNS:a.example, DNS:*.b.example, IP Address:192.0.2.1`. */
const namesOf = (subjectAltName: string | undefined): string[] =>
  (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('DNS:'))
    .map((name) => name.slice(4).toLowerCase())

/** Changes whenever a file, its owner, its mode or the link to it changes, or the file becomes inaccessible. */
const stampOf = ({ certFile, keyFile }: CertificateFiles): string =>
  [certFile, keyFile].map(stampOfFile).join()

function stampOfFile(file: string): string {
  try {
    const { dev, ino, size, ctimeNs } = statSync(file, { bigint: true })
    return `${dev} ${ino} ${size} ${ctimeNs}`
  } catch (error) {
    return messageOf(error)
  }
}

function stateOf(certificate: Certificate, host: string, now: number): ReturnType<Certificates['stateOf']> {
  const { hosts, expiresAt } = certificate
  if (!coversHost(hosts, host))
    return { status: 'failed', expiresAt: null, error: 'The certificate in TLS_CERT_FILE is for other names' }
  return { status: expiresAt > now ? 'active' : 'expired', expiresAt, error: null }
}

function warnIfExpired(certificate: Certificate, { log, now }: { log: Log; now: () => number }): void {
  if (certificate.expiresAt <= now()) log.warn('the certificate has expired', fieldsOf(certificate))
}

const fieldsOf = ({ hosts, expiresAt }: Certificate) => ({
  names: hosts.join(' '),
  expiresAt: new Date(expiresAt).toISOString(),
})
