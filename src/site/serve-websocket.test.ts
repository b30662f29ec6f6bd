import { afterAll, beforeAll, expect, test } from 'bun:test'
import { get, type IncomingMessage } from 'node:http'
import { createOperatorKey } from '../modules/api-keys/service.ts'
import { BACKEND, type ProxyFixture, proxyFixture } from '../testing/proxy-fixture.ts'
import { onRequest, rawTlsBackend } from '../testing/tls-backend.ts'

type Opened = { url: string; headers: Headers; closed: Promise<[number, string]> }

let fixture: ProxyFixture
let backend: Bun.Server<{ end: (code: number, reason: string) => void }>
let last: Opened | undefined

beforeAll(async () => {
  fixture = await proxyFixture()
  backend = Bun.serve<{ end: (code: number, reason: string) => void }>({
    port: 0,
    hostname: '127.0.0.1',
    tls: fixture.certificate,
    fetch(request, server) {
      const { promise, resolve } = Promise.withResolvers<[number, string]>()
      const url = new URL(request.url)
      last = { url: `${url.pathname}${url.search}`, headers: request.headers, closed: promise }
      if (url.pathname === '/teapot') return new Response('no sockets here', { status: 418 })
      if (url.pathname === '/broken') return new Response('oops', { status: 500 })
      const offered = request.headers.get('sec-websocket-protocol')?.split(', ').at(-1)
      const headers = {
        'set-cookie': 'a=1; Domain=.test',
        ...(offered ? { 'sec-websocket-protocol': offered } : {}),
      }
      server.upgrade(request, { data: { end: (code, reason) => resolve([code, reason]) }, headers })
      return undefined
    },
    websocket: {
      maxPayloadLength: 32 * 1024 * 1024,
      message(socket, message) {
        if (message === 'leave') socket.close(4001, 'as you wish')
        else if (message === 'vanish') socket.terminate()
        else socket.send(message)
      },
      close: (socket, code, reason) => socket.data.end(code, reason),
    },
  })
  await fixture.rule({ pathPattern: '/live/*', targetUrl: `https://${BACKEND}:${backend.port}` })
})
afterAll(async () => {
  await backend.stop(true)
  await fixture.close()
})

type Socket = { socket: WebSocket; next(): Promise<string | ArrayBuffer>; closed: Promise<CloseEvent> }

function connect(
  path: string,
  headers: Record<string, string> = {},
  protocols: string[] = [],
): Promise<Socket> {
  const options = { protocols, headers: { host: fixture.site.aliasHost, ...headers } } as unknown as string[]
  const socket = new WebSocket(`ws://127.0.0.1:${fixture.port}${path}`, options)
  socket.binaryType = 'arraybuffer'
  const waiting: ((message: string | ArrayBuffer) => void)[] = []
  const arrived: (string | ArrayBuffer)[] = []
  const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve))
  socket.addEventListener('message', ({ data }) => {
    const wanted = waiting.shift()
    if (wanted === undefined) arrived.push(data)
    else wanted(data)
  })
  const next = () =>
    new Promise<string | ArrayBuffer>((resolve) => {
      const data = arrived.shift()
      if (data === undefined) waiting.push(resolve)
      else resolve(data)
    })
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve({ socket, next, closed }))
    socket.addEventListener('error', () => reject(new Error('not opened')))
  })
}

test('messages of every size and kind pass in both directions, in order', async () => {
  const { socket, next, closed } = await connect(
    '/live/chat?room=1',
    { 'x-custom': 'yes', cookie: 'sAccessToken=secret' },
    ['chat', 'v2'],
  )
  expect(socket.protocol).toBe('v2')
  expect(last?.url).toBe('/chat?room=1')
  expect(last?.headers.get('x-custom')).toBe('yes')
  expect(last?.headers.get('cookie')).toBeNull()
  expect(last?.headers.get('x-forwarded-host')).toBe(fixture.site.aliasHost)
  const texts = [
    '',
    'ä€😀',
    'x'.repeat(125),
    'x'.repeat(126),
    'x'.repeat(65_535),
    'x'.repeat(65_536),
    'y'.repeat(3_000_000),
  ]
  for (const text of texts) socket.send(text)
  for (const text of texts) expect((await next()) === text).toBe(true)
  const bytes = crypto.getRandomValues(new Uint8Array(50_000))
  socket.send(bytes)
  expect(Buffer.from((await next()) as ArrayBuffer).equals(bytes)).toBe(true)
  socket.close(4002, 'enough')
  expect(await last?.closed).toEqual([4002, 'enough'])
  await closed
})

test('no header of the handshake passes in another spelling', async () => {
  const forged = [
    'sec_websocket_key',
    'Sec.WebSocket-Version',
    'sec-websocket_accept',
    'Sec--WebSocket--Extensions',
  ]
  const { socket } = await connect('/live/a', Object.fromEntries(forged.map((name) => [name, 'forged'])))
  socket.close()
  expect([...(last?.headers ?? [])].filter(([, value]) => value === 'forged')).toEqual([])
})

test('the visitor gets the backend’s close code, and also notices when it vanishes', async () => {
  const first = await connect('/live/a')
  first.socket.send('leave')
  expect(await first.closed).toMatchObject({ code: 4001, reason: 'as you wish' })
  const second = await connect('/live/a')
  second.socket.send('vanish')
  expect((await second.closed).wasClean).toBe(false)
})

test('the backend socket ends when the visitor vanishes', async () => {
  const { socket } = await connect('/live/a')
  if ('terminate' in socket && typeof socket.terminate === 'function') socket.terminate()
  expect((await last?.closed)?.[0]).toBe(1006)
})

const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

test('on the admin host a WebSocket opens without the cookies of the backend', async () => {
  const handshakeOf = (host: string, path: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = get({ host: '127.0.0.1', port: fixture.port, path, headers: { ...upgrade, host } })
      asked.on('error', reject)
      asked.on('upgrade', (answer, socket) => {
        socket.destroy()
        resolve(answer)
      })
    })
  const own = await handshakeOf(fixture.site.aliasHost, '/live/a')
  expect([own.statusCode, own.headers['set-cookie']]).toEqual([101, ['a=1']])
  const onAdmin = await handshakeOf('admin.sites.test', '/public/acme/docs/production/live/a')
  expect([onAdmin.statusCode, onAdmin.headers['set-cookie']]).toEqual([101, undefined])
})

test('a response other than 101 goes to the visitor', async () => {
  expect(await fixture.send('/live/teapot', { headers: upgrade })).toMatchObject({
    status: 418,
    text: 'no sockets here',
  })
  expect(await fixture.send('/live/broken', { headers: upgrade })).toMatchObject({
    status: 502,
    headers: { 'x-upstream-status': '500' },
  })
})

test('a backend that pings endlessly and reads nothing is cut off', async () => {
  const gone = Promise.withResolvers<void>()
  const deaf = await rawTlsBackend(fixture.certificate, (socket) => {
    socket.once('close', () => gone.resolve())
    onRequest(socket, (head) => {
      const key = /sec-websocket-key: (.*)/i.exec(head)?.[1] ?? ''
      const accept = new Bun.CryptoHasher('sha1').update(`${key}${GUID}`).digest('base64')
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      )
      socket.pause()
      const pings = Buffer.concat(Array.from({ length: 5000 }, () => [PING]).flat())
      const more = () => {
        while (!socket.destroyed && socket.write(pings));
      }
      socket.on('drain', more)
      more()
    })
  })
  await fixture.rule({ pathPattern: '/deaf', targetUrl: `https://${BACKEND}:${deaf.port}` })
  const { closed } = await connect('/deaf')
  expect(await closed).toMatchObject({ code: 1013 })
  await gone.promise
  await deaf.close()
})

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const PING = Buffer.concat([Buffer.from([0x89, 125]), Buffer.alloc(125)])

test('a backend without a valid Sec-WebSocket-Accept is 502', async () => {
  const liar = await rawTlsBackend(fixture.certificate, (socket) =>
    socket.once('data', () =>
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: nonsense\r\n\r\n',
      ),
    ),
  )
  await fixture.rule({ pathPattern: '/liar', targetUrl: `https://${BACKEND}:${liar.port}` })
  expect((await fixture.send('/liar', { headers: upgrade })).status).toBe(502)
  await liar.close()
})

test('cross-site WebSocket hijacking: a page of another site gets nothing with the session of a private site', async () => {
  const { app, site } = fixture
  const setPublic = (isPublic: boolean) =>
    app.call('PATCH', `/api/projects/${site.projectId}`, {
      as: 'seed-owner@example.com',
      host: 'admin.sites.test',
      json: { isPublic },
    })
  await setPublic(false)
  const cookie = await app.cookieOf('seed-owner@example.com', 'admin.sites.test')
  const ask = (headers: Record<string, string>) =>
    fixture.send('/live/teapot', { headers: { ...upgrade, ...headers } })
  expect((await ask({ cookie, origin: 'http://evil.sites.test' })).status).toBe(403)
  expect((await ask({ origin: `http://${site.aliasHost}` })).status).toBe(404)
  expect((await ask({ cookie, origin: `http://${site.aliasHost}` })).status).toBe(418)
  await setPublic(true)
  expect((await ask({ origin: 'http://evil.sites.test' })).status).toBe(418)
})

test('a key opens a WebSocket of a private site as bearer token, and does not reach the backend', async () => {
  const { app, site } = fixture
  const admin = { as: 'seed-owner@example.com', host: 'admin.sites.test' }
  const key = createOperatorKey(app.ctx, { name: 'socket', repository: null })
  const target = `https://${BACKEND}:${backend.port}`
  await fixture.rule({
    pathPattern: '/keyed/*',
    targetUrl: target,
    headerConfig: { forward: ['authorization'] },
  })
  await app.call('PATCH', `/api/projects/${site.projectId}`, { ...admin, json: { isPublic: false } })
  const cookie = await app.cookieOf(admin.as, admin.host)
  const foreign = { cookie, origin: 'http://evil.sites.test', ...upgrade }
  const ask = (authorization: string) =>
    fixture.send('/keyed/teapot', { headers: { ...foreign, authorization } })
  expect((await ask('Bearer other')).status).toBe(403)
  expect((await ask(`Bearer ${key}`)).status).toBe(418)
  expect(last?.headers.get('authorization')).toBeNull()
  await app.call('PATCH', `/api/projects/${site.projectId}`, { ...admin, json: { isPublic: true } })
})

test('a stopping server tells both ends, and does not wait for them', async () => {
  const { closed } = await connect('/live/a')
  const atBackend = last?.closed
  await fixture.listeners.stop(false)
  expect(await closed).toMatchObject({ code: 1001, wasClean: true })
  expect((await atBackend)?.[0]).toBe(1001)
})
