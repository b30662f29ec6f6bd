import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { createTestCa } from '../testing/test-ca.ts'
import { until } from '../testing/until.ts'

/** What passes through the TLS listener to a backend, also while its certificate changes. */
const ca = createTestCa()
const folder = mkdtempSync(join(tmpdir(), 'svc-listen-'))
const certFile = join(folder, 'cert.pem')
const keyFile = join(folder, 'key.pem')

let fixture: ProxyFixture
let backend: Bun.Server<undefined>
let last: Headers | undefined
let tick: (text: string) => void = () => undefined
let ended = Promise.withResolvers<void>()

function renew(): void {
  const { cert, key } = ca.issue({ names: ['*.sites.test'] })
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
}

beforeAll(async () => {
  renew()
  fixture = await proxyFixture({
    TLS: 'files',
    TLS_CERT_FILE: certFile,
    TLS_KEY_FILE: keyFile,
    HTTP_PORT: 'off',
  })
  backend = Bun.serve<undefined>({
    port: 0,
    hostname: '127.0.0.1',
    tls: fixture.certificate,
    idleTimeout: 0,
    fetch(request, server) {
      last = request.headers
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/events')) return events()
      if (pathname.endsWith('/length'))
        return request.arrayBuffer().then(({ byteLength }) => new Response(String(byteLength)))
      if (server.upgrade(request)) return undefined
      return new Response('plain answer')
    },
    websocket: { message: (socket, message) => void socket.send(`echo ${message}`) },
  })
  await fixture.rule({ pathPattern: '/live/*', targetUrl: `https://${BACKEND}:${backend.port}` })
})
afterAll(async () => {
  await backend.stop(true)
  await fixture.close()
  rmSync(folder, { recursive: true })
})

function events(): Response {
  ended = Promise.withResolvers<void>()
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      tick = (text) => controller.enqueue(new TextEncoder().encode(`data: ${text}\n\n`))
      tick('first')
    },
    cancel: () => ended.resolve(),
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}

type Reader = { headers: Record<string, unknown>; next(): Promise<string>; end(): void }

function get(path: string, headers: Record<string, string> = {}): Promise<Reader> {
  const host = fixture.site.aliasHost
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port: fixture.port,
        servername: host,
        ca: ca.pem,
        path,
        headers: { host, ...headers },
        agent: false,
      },
      (answer) => {
        const pieces = answer[Symbol.asyncIterator]()
        resolve({
          headers: answer.headers,
          next: async () => String((await pieces.next()).value),
          end: () => void request.destroy(),
        })
      },
    )
    request.on('error', reject)
    request.end()
  })
}

async function serialShown(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const servername = fixture.site.aliasHost
  const socket = connect({ host: '127.0.0.1', port: fixture.port, servername, ca: ca.pem }, () => {
    resolve(socket.getPeerCertificate().serialNumber)
    socket.destroy()
  })
  socket.on('error', reject)
  return promise
}

async function renewedAndServed(): Promise<void> {
  const before = await serialShown()
  renew()
  process.emit('SIGHUP')
  await until('the new certificate', async () => (await serialShown()) !== before)
}

test('a backend learns that the visitor used https', async () => {
  const answer = await get('/live/x', { 'x-forwarded-proto': 'http' })
  expect(await answer.next()).toBe('plain answer')
  expect(last?.get('x-forwarded-proto')).toBe('https')
  expect(last?.get('x-forwarded-for')).toBe('127.0.0.1')
  expect(answer.headers).not.toHaveProperty('strict-transport-security')
})

test('events continue during a certificate change', async () => {
  const answer = await get('/live/events')
  expect(await answer.next()).toBe('data: first\n\n')
  await renewedAndServed()
  tick('second')
  expect(await answer.next()).toBe('data: second\n\n')
  answer.end()
}, 60_000)

test('a WebSocket continues during a certificate change', async () => {
  const host = fixture.site.aliasHost
  const options = { headers: { host, origin: `https://${host}` }, tls: { ca: ca.pem, serverName: host } }
  const socket = new WebSocket(`wss://127.0.0.1:${fixture.port}/live/x`, options as unknown as string[])
  const said = () =>
    new Promise<unknown>((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => resolve(data), { once: true })
      socket.addEventListener('close', ({ code }) => reject(new Error(`closed: ${code}`)), { once: true })
    })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('close', ({ code }) => reject(new Error(`closed: ${code}`)))
  })
  socket.send('one')
  expect(await said()).toBe('echo one')
  await renewedAndServed()
  socket.send('two')
  expect(await said()).toBe('echo two')
  socket.close()
}, 60_000)

type Stream = { status: number; headers: IncomingHttpHeaders; next(): Promise<string>; end(): void }

function openHttp2(): ClientHttp2Session {
  return connectHttp2(`https://127.0.0.1:${fixture.port}`, {
    servername: fixture.site.aliasHost,
    ca: ca.pem,
  })
}

function ask(
  session: ClientHttp2Session,
  path: string,
  { authority = fixture.site.aliasHost, body }: { authority?: string; body?: Uint8Array } = {},
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const stream = session.request({ ':path': path, ':method': method, ':authority': authority })
    stream.on('error', reject)
    stream.on('response', (headers) => {
      const pieces = stream[Symbol.asyncIterator]()
      resolve({
        status: Number(headers[':status']),
        headers,
        next: async () => String((await pieces.next()).value),
        end: () => stream.close(),
      })
    })
    stream.end(body)
  })
}

test('HTTP/2: a backend learns who the visitor is, and a body arrives complete', async () => {
  const session = openHttp2()
  const plain = await ask(session, '/live/x')
  expect(await plain.next()).toBe('plain answer')
  expect(plain.headers).not.toHaveProperty('connection')
  expect(last?.get('x-forwarded-proto')).toBe('https')
  expect(last?.get('x-forwarded-for')).toBe('127.0.0.1')
  expect(last?.get('x-forwarded-host')).toBe(fixture.site.aliasHost)
  const length = await ask(session, '/live/length', { body: new Uint8Array(3_000_000) })
  expect(await length.next()).toBe('3000000')
  session.close()
})

test('HTTP/2: each request is routed by its own host, whatever host the connection was opened for', async () => {
  const session = openHttp2()
  const [site, admin, stranger] = await Promise.all([
    ask(session, '/'),
    ask(session, '/api/health', { authority: 'admin.sites.test' }),
    ask(session, '/', { authority: 'evil.test' }),
  ])
  expect([site.status, admin.status, stranger.status]).toEqual([200, 200, 404])
  expect(site.headers).not.toHaveProperty('strict-transport-security')
  expect(admin.headers).toHaveProperty('strict-transport-security')
  session.close()
})

test('HTTP/2: events continue during a certificate change, and end when the visitor leaves', async () => {
  const session = openHttp2()
  const answer = await ask(session, '/live/events')
  expect(await answer.next()).toBe('data: first\n\n')
  await renewedAndServed()
  tick('second')
  expect(await answer.next()).toBe('data: second\n\n')
  expect((await ask(session, '/')).status).toBe(200)
  answer.end()
  await ended.promise
  session.close()
}, 60_000)
