import { afterEach, expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestCa, type TestCertificate } from '../../testing/test-ca.ts'
import { until } from '../../testing/until.ts'
import { createLog } from '../log.ts'
import { CertificateFileError, openCertificateFiles, readPair } from './files.ts'

const ca = createTestCa()
const good = ca.issue({ names: ['a.test', '*.b.test', '127.0.0.1'] })
const other = ca.issue({ names: ['c.test'] })
const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

function folderOf(pair: Partial<TestCertificate>): { certFile: string; keyFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
  ended.push(() => rmSync(folder, { recursive: true, force: true }))
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') }
  if (pair.cert !== undefined) writeFileSync(files.certFile, pair.cert)
  if (pair.key !== undefined) writeFileSync(files.keyFile, pair.key)
  return files
}

function open(files: { certFile: string; keyFile: string }, now = Date.now()) {
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', now: () => now, write: (line) => lines.push(line) })
  const certificates = openCertificateFiles(files, { log, now: () => now, lookEveryMs: 5 })
  ended.push(() => certificates.stop())
  return { certificates, lines }
}

test('a pair is read with its names and its expiry', () => {
  const pair = readPair(folderOf(good))
  expect(pair.hosts).toEqual(['a.test', '*.b.test'])
  expect(pair.expiresAt).toBeGreaterThan(Date.now())
})

test('a key may follow its parameters, as openssl writes it', () => {
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
  expect(readPair(folderOf({ ...good, key: `${parameters}${good.key}` })).hosts).toHaveLength(2)
})

const JUNK = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const ENCRYPTED = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n'
const bad: [name: string, pair: Partial<TestCertificate>, says: RegExp][] = [
  [
    'no certificate file',
    { key: good.key },
    /^TLS_CERT_FILE is ".*cert\.pem", but must be a file .*\(ENOENT\)$/,
  ],
  ['no key file', { cert: good.cert }, /^TLS_KEY_FILE is ".*key\.pem", but must be a file .*\(ENOENT\)$/],
  ['an empty certificate', { ...good, cert: '' }, /^TLS_CERT_FILE is .* hold a certificate in PEM$/],
  ['a broken certificate', { ...good, cert: JUNK }, /^TLS_CERT_FILE is .* hold certificates in PEM$/],
  ['a broken chain', { ...good, cert: good.cert + JUNK }, /^TLS_CERT_FILE is .* hold certificates in PEM$/],
  ['the key as certificate', { ...good, cert: good.key }, /^TLS_CERT_FILE is .* hold a certificate in PEM$/],
  [
    'a broken key',
    { ...good, key: 'nothing' },
    /^TLS_KEY_FILE is .* hold a key in PEM without a passphrase$/,
  ],
  ['a key with a passphrase', { ...good, key: ENCRYPTED }, /^TLS_KEY_FILE is .* without a passphrase$/],
  [
    "another certificate's key",
    { ...good, key: other.key },
    /^TLS_KEY_FILE is .* hold the key of the certificate/,
  ],
]

test.each(bad)('%s is rejected with a one-line message', (_name, pair, says) => {
  const read = () => readPair(folderOf(pair))
  expect(read).toThrow(CertificateFileError)
  expect(read).toThrow(says)
})

test('a renewed pair is served and reported, after a write to the files or a change of a link', async () => {
  const files = folderOf(good)
  const { certificates, lines } = open(files)
  let changes = 0
  certificates.onChange(() => {
    changes += 1
  })
  writeFileSync(files.keyFile, other.key)
  writeFileSync(files.certFile, other.cert)
  await until('the change', () => changes === 1)
  expect(certificates.all()[0]).toMatchObject({ hosts: ['c.test'], certPem: other.cert, keyPem: other.key })
  expect(lines.join('')).toContain('"names":"c.test"')

  const renewed = ca.issue({ names: ['d.test'] })
  const elsewhere = folderOf(renewed)
  for (const [target, link] of [
    [elsewhere.keyFile, files.keyFile],
    [elsewhere.certFile, files.certFile],
  ] as const) {
    symlinkSync(target, `${link}.new`)
    renameSync(`${link}.new`, link)
  }
  await until('the certificate of d.test', () => certificates.all()[0]?.hosts[0] === 'd.test')
})

test('an unusable pair keeps the last one in use, and is logged once', async () => {
  const files = folderOf(good)
  const { certificates, lines } = open(files)
  writeFileSync(files.certFile, other.cert)
  await until('a line in the log', () => lines.length > 0)
  expect(certificates.all()[0]?.certPem).toBe(good.cert)
  expect(lines.join('')).toContain('the last one stays in use')
  expect(lines.join('')).toContain('TLS_KEY_FILE')
  expect(lines.join('')).not.toContain('PRIVATE')
  const told = lines.length
  await Bun.sleep(40)
  expect(lines).toHaveLength(told)
  rmSync(files.certFile)
  await until('another line in the log', () => lines.length > told)
  expect(certificates.all()[0]?.certPem).toBe(good.cert)
})

test('inaccessible files are a bad setting at the start, and later a line in the log', async () => {
  const files = folderOf(good)
  const circle = folderOf({})
  symlinkSync(circle.certFile, circle.certFile)
  expect(() => open(circle)).toThrow(CertificateFileError)
  expect(() => open(circle)).toThrow(/^TLS_CERT_FILE is .*\(ELOOP\)$/)
  const { certificates, lines } = open(files)
  rmSync(files.certFile)
  symlinkSync(files.certFile, files.certFile)
  await until('a line in the log', () => lines.length > 0)
  expect(lines.join('')).toContain('(ELOOP)')
  expect(certificates.all()[0]?.certPem).toBe(good.cert)
})

test('a change of permissions is noticed too', async () => {
  const files = folderOf(good)
  const { lines } = open(files)
  writeFileSync(files.keyFile, 'not yet a key')
  await until('a line in the log', () => lines.length > 0)
  const told = lines.length
  chmodSync(files.keyFile, 0o640)
  await until('another line in the log', () => lines.length > told)
  expect(lines.at(-1)).toContain('TLS_KEY_FILE')
})

test('the state of a host: other names, valid, expired', () => {
  const pair = ca.issue({ names: ['a.test', '*.b.test'] })
  const { certificates } = open(folderOf(pair))
  expect(certificates.stateOf('x.b.test')).toMatchObject({ status: 'active', error: null })
  expect(certificates.stateOf('b.test')).toMatchObject({ status: 'failed', expiresAt: null })
  const later = open(folderOf(pair), Date.now() + 3 * 86_400_000)
  expect(later.certificates.stateOf('a.test').status).toBe('expired')
  expect(later.lines.join('')).toContain('the certificate has expired')
})

test('a byte order mark is no part of the certificate or the key, nor one between joined files', () => {
  const marked = `\ufeff${good.cert}\r\n\ufeff${other.cert}`
  const pair = readPair(folderOf({ cert: marked, key: `\ufeff${good.key}` }))
  expect([pair.hosts.length, pair.certPem.includes('\ufeff'), pair.keyPem.includes('\ufeff')]).toEqual([
    2,
    false,
    false,
  ])
})

test.each(['cert', 'key'] as const)('a %s in UTF-16 is refused by that name', (part) => {
  const files = folderOf(good)
  const path = part === 'cert' ? files.certFile : files.keyFile
  writeFileSync(path, Buffer.from(`\ufeff${good[part]}`, 'utf16le'))
  expect(() => readPair(files)).toThrow(
    `TLS_${part.toUpperCase()}_FILE is "${path}", which is written in UTF-16`,
  )
})
