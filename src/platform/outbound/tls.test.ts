import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { HOUR_MS } from '../../domain/durations.ts'
import { createTestCa, selfSigned, type TestCertificate } from '../../testing/test-ca.ts'
import { onRequest, type RawBackend, rawPlainBackend, rawTlsBackend } from '../../testing/tls-backend.ts'
import { createOutbound, type Outbound } from '../outbound.ts'
import { readExtraCas, trustedCas } from './ca.ts'
import type { OutboundError } from './error.ts'

const ca = createTestCa('Our CA')
const stranger = createTestCa('Strange CA')
const opened: (RawBackend | Outbound)[] = []
afterAll(() => Promise.all(opened.map((one) => one.close())))

const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

async function backendWith(certificate: TestCertificate, answer = ANSWER, port = 0): Promise<RawBackend> {
  const backend = await rawTlsBackend(
    certificate,
    (socket) => onRequest(socket, () => socket.write(answer)),
    port,
  )
  opened.push(backend)
  return backend
}

function outboundWith(extraCaPem: string | null = ca.pem): Outbound {
  const allowedTargets = ['127.0.0.0/8']
  const outbound = createOutbound({ resolve: async () => ['127.0.0.1'], allowedTargets, extraCaPem })
  opened.push(outbound)
  return outbound
}

const get = (outbound: Outbound, name: string, port: number) =>
  outbound.request(new URL(`https://${name}:${port}/secret`), {
    method: 'GET',
    headers: [['authorization', 'Bearer secret']],
    body: null,
    headTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
  })

const failureOf = async (promise: Promise<unknown>): Promise<Pick<OutboundError, 'kind' | 'message'>> =>
  promise.then(
    () => expect.unreachable('the request went through'),
    (error) => ({ kind: error.kind, message: error.message }),
  )

const trusted: [name: string, names: string[], asked: string][] = [
  ['the name', ['good.test'], 'good.test'],
  ['another case', ['Good.Test'], 'GOOD.test'],
  ['one name of several', ['a.test', 'good.test'], 'good.test'],
  ['a wildcard', ['*.good.test'], 'api.good.test'],
  ['a dot at the end', ['good.test'], 'good.test.'],
  ['an address', ['127.0.0.1'], '127.0.0.1'],
]

test.each(trusted)('%s verifies the backend', async (_name, names, asked) => {
  const { port, received } = await backendWith(ca.issue({ names }))
  const response = await get(outboundWith(), asked, port)
  expect(response.status).toBe(200)
  expect(received[0]).toStartWith('GET /secret HTTP/1.1\r\n')
})

const refused: [name: string, certificate: TestCertificate, asked: string, reason: string][] = [
  ['another name', ca.issue({ names: ['evil.test'] }), 'good.test', 'it is for another name'],
  ['a parent name', ca.issue({ names: ['test'] }), 'good.test', 'it is for another name'],
  ['a name below', ca.issue({ names: ['api.good.test'] }), 'good.test', 'it is for another name'],
  [
    'a wildcard one level up',
    ca.issue({ names: ['*.good.test'] }),
    'a.b.good.test',
    'it is for another name',
  ],
  ['a wildcard without a label', ca.issue({ names: ['*.good.test'] }), 'good.test', 'it is for another name'],
  ['a name for an address', ca.issue({ names: ['good.test'] }), '127.0.0.1', 'it is for another name'],
  ['another address', ca.issue({ names: ['127.0.0.2'] }), '127.0.0.1', 'it is for another name'],
  ['an unknown CA', stranger.issue({ names: ['good.test'] }), 'good.test', 'its CA is unknown here'],
  ['itself alone', selfSigned(['good.test']), 'good.test', 'it is self-signed'],
  [
    'a date that has passed',
    ca.issue({ names: ['good.test'], notAfter: Date.now() - HOUR_MS }),
    'good.test',
    'it has expired',
  ],
  [
    'a date to come',
    ca.issue({ names: ['good.test'], notBefore: Date.now() + HOUR_MS }),
    'good.test',
    'it is not valid yet',
  ],
  [
    'the purpose of a client',
    ca.issue({ names: ['good.test'], purpose: 'client' }),
    'good.test',
    'it is not for servers',
  ],
]

describe('before a byte of the request is sent', () => {
  test.each(refused)('%s is rejected', async (_name, certificate, asked, reason) => {
    const { port, received } = await backendWith(certificate)
    const outbound = outboundWith()
    for (let attempt = 0; attempt < 2; attempt++)
      expect(await failureOf(get(outbound, asked, port))).toEqual({
        kind: 'tls',
        message: `The certificate of ${asked}:${port} is not accepted: ${reason}`,
      })
    expect(received.join('')).toBe('')
  })

  test('an extra CA is rejected unless it is configured', async () => {
    const { port, received } = await backendWith(ca.issue({ names: ['good.test'] }))
    expect((await failureOf(get(outboundWith(null), 'good.test', port))).kind).toBe('tls')
    expect(received.join('')).toBe('')
  })

  test('a pooled connection of another name to the same address is not used', async () => {
    const { port, received } = await backendWith(ca.issue({ names: ['good.test'] }))
    const outbound = outboundWith()
    await get(outbound, 'good.test', port)
    expect((await failureOf(get(outbound, 'evil.test', port))).kind).toBe('tls')
    await get(outbound, 'good.test', port)
    expect(received.filter((text) => text !== '')).toHaveLength(1)
    expect(received.join('')).not.toContain('evil.test')
  })

  test('an earlier valid session does not make a later certificate pass', async () => {
    const closing = ANSWER.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    const first = await backendWith(ca.issue({ names: ['good.test'] }), closing)
    const outbound = outboundWith()
    await get(outbound, 'good.test', first.port)
    await first.close()
    const second = await backendWith(ca.issue({ names: ['evil.test'] }), ANSWER, first.port)
    expect((await failureOf(get(outbound, 'good.test', first.port))).kind).toBe('tls')
    expect(second.received.join('')).toBe('')
  })
})

test('a server without TLS is reported as such', async () => {
  const backend = await rawPlainBackend((socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'))
  opened.push(backend)
  expect(await failureOf(get(outboundWith(), 'good.test', backend.port))).toEqual({
    kind: 'tls',
    message: `good.test:${backend.port} does not speak TLS as expected`,
  })
})

test.each([
  ['ends', (socket: Socket) => void socket.end()],
  ['resets', (socket: Socket) => void socket.resetAndDestroy()],
])('a server that %s the connection during the handshake is named as such', async (_, hangUp) => {
  const backend = await rawPlainBackend(hangUp)
  opened.push(backend)
  expect(await failureOf(get(outboundWith(), 'good.test', backend.port))).toEqual({
    kind: 'tls',
    message: `good.test:${backend.port} closed the connection during the TLS handshake`,
  })
})

test('extra CAs are added to the usual ones', () => {
  const cas = trustedCas(`${ca.pem}\n${stranger.pem}`)
  expect(cas).toEqual(expect.arrayContaining(getCACertificates('default').slice(0, 5)))
  expect(cas?.slice(-2)).toEqual([ca.pem.trim(), stranger.pem.trim()])
  expect(trustedCas(null)).toBeNull()
  expect(trustedCas(getCACertificates('default').slice(0, 3).join('\n'))).toBeNull()
})

test('a file without certificates stops the start', async () => {
  const path = join(tmpdir(), `svc-test-${process.pid}.pem`)
  await Bun.write(path, 'not a certificate')
  for (const one of [path, '/no/such/file.pem'])
    expect(() => readExtraCas(one)).toThrow(`NODE_EXTRA_CA_CERTS is "${one}", but must be a readable file`)
  await Bun.write(path, `# ours\n${ca.pem}`)
  expect(readExtraCas(path)).toBe(ca.pem.trim())
  await Bun.file(path).delete()
})

test.each([
  [200, [0x30, 0x81, 200], true],
  [300, [0x30, 0x82, 1, 44], true],
  [70_000, [0x30, 0x83, 1, 17, 112], true],
  [300, [0x30, 0x82, 1, 45], false],
  [300, [0x31, 0x82, 1, 44], false],
  [0, [0x30], false],
])('a certificate of %p bytes after %p is read: %p', (size, head, isGood) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'))
  const path = join(folder, 'ca.pem')
  const body = Buffer.from([...head, ...new Uint8Array(size)]).toString('base64')
  writeFileSync(path, `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`)
  const read = () => readExtraCas(path)
  if (isGood) expect(read()).toContain(body)
  else expect(read).toThrow('NODE_EXTRA_CA_CERTS')
  rmSync(folder, { recursive: true })
})

test('extra CAs are read without a byte order mark, and UTF-16 is refused by that name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-ca-'))
  const path = join(folder, 'ca.pem')
  writeFileSync(path, `\ufeff${ca.pem}`)
  expect(readExtraCas(path)).toBe(ca.pem.trim())
  writeFileSync(path, Buffer.from(`\ufeff${ca.pem}`, 'utf16le'))
  expect(() => readExtraCas(path)).toThrow(`NODE_EXTRA_CA_CERTS is "${path}", which is written in UTF-16`)
  rmSync(folder, { recursive: true })
})
