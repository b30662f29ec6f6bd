import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forwardCounts } from '../../modules/machines/forward-counts.ts'
import { type MachinePair, machinePair, NODE_SECRET } from '../../testing/machine-pair.ts'
import { rawConnection } from '../../testing/raw-client.ts'
import { rounds } from '../../testing/rounds.ts'
import { createTestCa } from '../../testing/test-ca.ts'
import { until } from '../../testing/until.ts'
import { MACHINE_HEADER, machineKeys, readForwarded, signForwarded } from './machine-header.ts'

/** contract 18 §6: what is passed on to the primary goes there unchanged, once, and its answer comes back byte for byte. */

const KEYS = machineKeys(NODE_SECRET)
let pair: MachinePair
const servers: Server[] = []
const sockets = new Set<Socket>()
beforeEach(async () => {
  pair = await machinePair()
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
  await pair.close()
})

/** A primary that does with each connection what the test says. `request` is what came first. */
async function primaryThat(does: (socket: Socket, request: string, n: number) => void): Promise<string[]> {
  const requests: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      requests.push(bytes.toString('latin1'))
      does(socket, requests.at(-1) ?? '', requests.length)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  pair.primaryUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  return requests
}
const failed = async (answer: Promise<Response>) => {
  const { status, headers, ...rest } = await answer
  return [
    status,
    headers.get('retry-after'),
    ((await (await answer).json()) as { error: string }).error,
    rest,
  ].slice(0, 3)
}
const UNREACHABLE = [503, '2', 'PRIMARY_UNREACHABLE']

test('the request arrives as it was sent, with who sent it', async () => {
  const requests = await primaryThat((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
  const { port } = new URL(pair.follower.url)
  const visitor = await rawConnection({ port: Number(port), from: '127.0.0.9' })
  const sent =
    'PUT /api/a%20b//c?d=%2F&e HTTP/1.1\r\nHost: LocalHost:99\r\nX-Svc-Machine: forged\r\nX-Svc-Machine: twice\r\n' +
    'Connection: close, X-Mine\r\nX-Mine: 1\r\nTE: trailers\r\nX-Forwarded-For: 1.2.3.4\r\n' +
    'Cookie: a=b; c="d"\r\nContent-Length: 5\r\nX-Latin: \xe9\r\n\r\nhello'
  visitor.write(Buffer.from(sent, 'latin1'))
  expect((await visitor.answer).status).toBe(204)
  const [head = '', body] = (requests[0] ?? '').split('\r\n\r\n')
  const lines = head.split('\r\n')
  expect(lines[0]).toBe('PUT /api/a%20b//c?d=%2F&e HTTP/1.1')
  const fields = new Map(lines.slice(1).map((line) => line.split(': ') as [string, string]))
  const value = fields.get(MACHINE_HEADER) ?? ''
  fields.delete(MACHINE_HEADER)
  expect(Object.fromEntries(fields)).toEqual({
    host: 'LocalHost:99',
    cookie: 'a=b; c="d"',
    'content-length': '5',
    'x-forwarded-for': '1.2.3.4',
    'x-latin': '\xe9',
  })
  expect(body).toBe('hello')
  const signed = { at: pair.primary.ctx.now(), method: 'PUT', target: '/api/a%20b//c?d=%2F&e' }
  expect(readForwarded(KEYS, value, signed)).toMatchObject({
    address: '127.0.0.9',
    isSecure: false,
    hostHeader: 'LocalHost:99',
  })
})

test('the answer comes back byte for byte', async () => {
  const body = Buffer.from(Bun.gzipSync('a body that stays as it is coded'))
  await primaryThat((socket) =>
    socket.end(
      Buffer.concat([
        Buffer.from(
          'HTTP/1.1 418 I am\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nSet-Cookie: b=2; Path=/\r\nETag: W/"x"\r\n' +
            'Set-Cookie: a=1; Path=/\r\nContent-Encoding: gzip\r\nVary: A\r\nVary: B\r\nX-Odd:  \xe9 \r\n' +
            `Keep-Alive: timeout=9\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nContent-Length: ${body.length}\r\n\r\n`,
          'latin1',
        ),
        body,
      ]),
    ),
  )
  const { port } = new URL(pair.follower.url)
  const visitor = await rawConnection({ port: Number(port) })
  visitor.write('GET /api/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const { head, body: text } = await visitor.answer
  expect(Buffer.from(text, 'latin1').equals(body)).toBe(true)
  const [status, ...fields] = head.trim().split('\r\n')
  expect(status).toStartWith('HTTP/1.1 418')
  const named = (name: string) =>
    fields.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.split(': ')[1])
  expect(named('date')).toEqual(['Mon, 01 Jan 2024 00:00:00 GMT'])
  expect(named('set-cookie')).toEqual(['b=2; Path=/', 'a=1; Path=/'])
  expect(named('etag')).toEqual(['W/"x"'])
  expect(named('content-encoding')).toEqual(['gzip'])
  expect(named('vary').join(', ')).toBe('A, B')
  expect([named('x-hop'), named('content-length')]).toEqual([[], [String(body.length)]])
})

test('no primary, or one that nobody listens for: a read is tried once again, and then it is 503', async () => {
  pair.primaryUrl = null
  expect(await failed(pair.call('GET', '/api/projects'))).toEqual(UNREACHABLE)
  await primaryThat((socket) => socket.destroy())
  const gone = pair.primaryUrl
  for (const server of servers.splice(0)) server.close()
  pair.primaryUrl = gone
  for (const method of ['GET', 'POST'])
    expect(await failed(pair.call(method, '/api/projects'))).toEqual(UNREACHABLE)
  const head = await pair.call('HEAD', '/api/projects')
  expect(head.status).toBe(503)
})

test('while there is no primary, what it has not got waits for the next, with its body', async () => {
  pair.primaryUrl = null
  const read = pair.call('GET', '/api/setup/status')
  const json = { email: 'nobody@example.com', password: 'no password at all' }
  const change = pair.call('POST', '/api/auth/signin', { json })
  pair.primaryUrl = pair.primaryAt
  expect([(await read).status, (await change).status]).toEqual([200, 401])
  // Also where the last one has ended.
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  pair.primaryUrl = `http://127.0.0.1:${server.port}`
  server.stop(true)
  const again = pair.call('POST', '/api/auth/signin', { json })
  await Bun.sleep(100)
  pair.primaryUrl = pair.primaryAt
  expect((await again).status).toBe(401)
})

test.each([
  ['cuts the connection', (socket: Socket) => socket.resetAndDestroy()],
  ['ends it in the middle of the head', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nX-A: ')],
  ['answers what is no HTTP', (socket: Socket) => socket.end('hello\r\n\r\n')],
])('a primary that %s: a read is sent twice, a change once', async (_what, does) => {
  const requests = await primaryThat(does)
  expect(await failed(pair.call('GET', '/api/projects'))).toEqual(UNREACHABLE)
  expect(requests).toHaveLength(2)
  const change = pair.call('POST', '/api/projects', { json: { name: 'x' } })
  const answer = await change
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({
    error: 'PRIMARY_UNREACHABLE',
    message: expect.stringContaining('may'),
  })
  expect(requests).toHaveLength(3)
  expect(forwardCounts(pair.follower.ctx)).toEqual({ answered: 0, unreachable: 2, broken: 0 })
})

test('a primary that takes requests and says nothing is given up, one that works for long is not', async () => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone'
  let isAlive = true
  await primaryThat((socket, request) => {
    if (request.startsWith('GET /api/health/primary ')) {
      if (isAlive) socket.end('HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n')
    } else setTimeout(() => isAlive && socket.end(ok), 8_000)
  })
  expect(await (await pair.call('POST', '/api/projects', { json: {} })).text()).toBe('done')
  isAlive = false
  const inVain = [pair.call('GET', '/api/projects'), pair.call('POST', '/api/projects', { json: {} })]
  for (const answer of inVain) expect(await failed(answer)).toEqual(UNREACHABLE)
}, 60_000)

test('one that says nothing, while another is the primary by now, is given up the first time', async () => {
  const requests = await primaryThat(() => {})
  const change = pair.call('POST', '/api/projects', { json: {} })
  await until('it was sent', () => requests.length === 1)
  pair.primaryUrl = pair.primaryAt
  expect(await failed(change)).toEqual(UNREACHABLE)
  expect(requests.filter((request) => request.startsWith('GET /api/health/primary '))).toHaveLength(1)
}, 60_000)

test('half an answer is no whole one: the visitor’s connection is cut', async () => {
  await primaryThat((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf')
    setTimeout(() => socket.destroy(), 100)
  })
  const answer = await fetch(`${pair.follower.url}/api/x`)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
})

test('a visitor who leaves is not waited for', async () => {
  const closed = Promise.withResolvers<void>()
  await primaryThat((socket) => {
    socket.on('close', () => closed.resolve())
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')
  })
  const { port } = new URL(pair.follower.url)
  const visitor = await rawConnection({ port: Number(port) })
  visitor.write('GET /api/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await Bun.sleep(200)
  visitor.reset()
  await closed.promise
})

test('two that take each other for the primary: it is forwarded once', async () => {
  pair.primaryUrl = pair.follower.url
  expect(await failed(pair.call('GET', '/api/projects'))).toEqual([503, '1', 'NOT_PRIMARY'])
  expect(await failed(pair.call('POST', '/api/projects', { json: {} }))).toEqual([503, '1', 'NOT_PRIMARY'])
})

test('with another secret on each it does not go round for ever', async () => {
  const other = await machinePair({ NODE_SECRET: 'another secret of the other machine' })
  try {
    pair.primaryUrl = other.follower.url
    other.primaryUrl = pair.follower.url
    expect(await failed(pair.call('POST', '/api/projects', { json: {} }))).toEqual([503, '1', 'NOT_PRIMARY'])
    expect(await failed(pair.call('GET', '/api/projects'))).toEqual([503, '1', 'NOT_PRIMARY'])
  } finally {
    await other.close()
  }
})

test('what a machine says of a visitor stands on the primary; forged, old and other requests’ are nothing', async () => {
  const at = pair.primary.ctx.now()
  const target = '/api/auth/session'
  const said = { address: '203.0.113.9', isSecure: true, hostHeader: 'localhost', machines: [] }
  const ask = (value: string) =>
    pair.primary.call('GET', target, { from: '127.0.0.1', headers: { [MACHINE_HEADER]: value } })
  const good = signForwarded(KEYS, said, { at, method: 'GET', target })
  const own = machineKeys('some other secret that is long enough')
  for (const value of [
    good,
    `${good}x`,
    'x',
    ';;;;;',
    signForwarded(own, said, { at, method: 'GET', target }),
    signForwarded(KEYS, said, { at: at - 31_000, method: 'GET', target }),
    signForwarded(KEYS, said, { at, method: 'POST', target }),
    signForwarded(KEYS, said, { at, method: 'GET', target: '/' }),
  ])
    expect((await ask(value)).status).toBe(200)
})

test.each([
  [undefined, '203.0.113.5'],
  ['a good one', '203.0.113.9'],
])('limits on the primary: with %p they are counted for %s', async (which, counted) => {
  await pair.close()
  pair = await machinePair({ RATE_LIMIT_API: '2', TRUST_PROXY: '203.0.113.0/24' })
  const target = '/api/setup/status'
  const said = { address: '203.0.113.9', isSecure: true, hostHeader: 'localhost', machines: [] }
  let signed = 0
  const ask = (headers: Record<string, string> = {}) => {
    const at = pair.primary.ctx.now() + ++signed / 1_000
    const value = signForwarded(KEYS, said, { at, method: 'GET', target })
    const own = which === undefined ? {} : { [MACHINE_HEADER]: value }
    return pair.primary.call('GET', target, { from: '203.0.113.5', headers: { ...own, ...headers } })
  }
  for (let n = 0; n < 2; n++) expect((await ask()).status).toBe(200)
  expect((await pair.primary.call('GET', target, { from: counted })).status).toBe(429)
  // A machine behind a trusted address is not made to say what its visitors send.
  const lied = await ask({ 'x-forwarded-for': '198.51.100.1' })
  expect(lied.status).toBe(which === undefined ? 200 : 429)
})

test('what a machine said of a visitor counts once: who sends it again is counted as who they are', async () => {
  await pair.close()
  pair = await machinePair({ RATE_LIMIT_API: '3' })
  const target = '/api/setup/status'
  expect((await pair.call('GET', target, { from: '203.0.113.9' })).status).toBe(200)
  const value = pair.forwarded[0]?.headers.get(MACHINE_HEADER) ?? ''
  const again = (spelled: string, from: string) =>
    pair.primary.call('GET', target, { from, headers: { [MACHINE_HEADER]: spelled } })
  const spellings = [value, `${value}=`, `${value}==`, value.replaceAll('-', '+').replaceAll('_', '/')]
  for (const [n, spelled] of spellings.entries())
    expect((await again(spelled, `198.51.100.${n}`)).status).toBe(200)
  // The visitor has two left, though both come at the same time.
  const both = [0, 1, 2].map(() => pair.call('GET', target, { from: '203.0.113.9' }))
  expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 200, 429])
})

test('it waits for nothing that it does not have to: an answer to half an upload is passed back', async () => {
  await primaryThat((socket) => socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno'))
  const { port } = new URL(pair.follower.url)
  const visitor = await rawConnection({ port: Number(port) })
  visitor.write('POST /api/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nsome')
  expect(await visitor.answer).toMatchObject({ status: 413, body: 'no' })
})

/** A primary that another server plays. */
function primaryIs(options: Omit<Bun.Serve.Options<undefined>, 'port' | 'hostname'>): void {
  const server = Bun.serve({
    ...options,
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 40,
  } as Bun.Serve.Options<undefined>)
  played.push(server)
  pair.primaryUrl = `http://127.0.0.1:${server.port}`
}
test.each([true, false])(
  'a primary that speaks TLS is believed by NODE_EXTRA_CA_CERTS (%p) alone',
  async (isKnown) => {
    const ca = createTestCa()
    const tls = ca.issue({ names: ['127.0.0.1'] })
    const folder = mkdtempSync(join(tmpdir(), 'svc-forward-'))
    writeFileSync(join(folder, 'ca.pem'), isKnown ? ca.pem : createTestCa().pem)
    await pair.close()
    pair = await machinePair({ NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') })
    rmSync(folder, { recursive: true })
    const said: (string | null)[] = []
    primaryIs({
      tls,
      fetch(request) {
        said.push(request.headers.get(MACHINE_HEADER))
        return new Response(`${request.method} ${new URL(request.url).protocol}`)
      },
    })
    pair.primaryUrl = pair.primaryUrl?.replace('http:', 'https:') ?? null
    if (!isKnown) {
      for (const method of ['GET', 'POST'])
        expect(await failed(pair.call(method, '/api/projects'))).toEqual(UNREACHABLE)
      return expect(said).toEqual([])
    }
    for (const method of ['GET', 'POST'])
      expect(await (await pair.call(method, '/api/projects')).text()).toBe(`${method} https:`)
    const signed = { at: pair.primary.ctx.now(), method: 'POST', target: '/api/projects' }
    expect(readForwarded(KEYS, said[1] ?? '', signed)).toMatchObject({
      isSecure: false,
      hostHeader: 'localhost',
    })
  },
)

const played: Bun.Server<undefined>[] = []
afterEach(async () => {
  for (const server of played.splice(0)) await server.stop(true)
})

test('WebSockets pass both ways, with their protocol, text, bytes and the code of their end', async () => {
  const ended = Promise.withResolvers<[number, string]>()
  primaryIs({
    fetch: (request, server) =>
      server.upgrade(request, { headers: { 'sec-websocket-protocol': 'chat' } })
        ? undefined
        : new Response('no', { status: 400 }),
    websocket: {
      message: (socket, message) => void socket.send(message),
      close: (_, code, reason) => ended.resolve([code, reason]),
    },
  })
  const socket = new WebSocket(`${pair.follower.url.replace('http', 'ws')}/api/x`, ['chat'])
  socket.binaryType = 'arraybuffer'
  const received: unknown[] = []
  const all = Promise.withResolvers<void>()
  socket.onmessage = ({ data }) => received.push(data) === 3 && all.resolve()
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  expect(socket.protocol).toBe('chat')
  const large = new Uint8Array(3_000_000).fill(7)
  socket.send('hello')
  socket.send(large)
  socket.send('')
  await all.promise
  const bytes = received[1] instanceof ArrayBuffer ? new Uint8Array(received[1]) : undefined
  expect([received[0], bytes?.length, bytes?.at(-1), received[2]]).toEqual(['hello', large.length, 7, ''])
  socket.close(4_001, 'bye')
  expect(await ended.promise).toEqual([4_001, 'bye'])
})

test('events arrive as they are sent', async () => {
  const send = Promise.withResolvers<(text: string) => void>()
  primaryIs({
    fetch: () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => send.resolve((text) => controller.enqueue(new TextEncoder().encode(text))),
      })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    },
  })
  const answered = fetch(`${pair.follower.url}/api/logs/tail`)
  const say = await send.promise
  say('data: 1\n\n')
  const answer = await answered
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  for (const text of ['data: 1\n\n', 'data: 2\n\n']) {
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text)
    say('data: 2\n\n')
  }
  await reader.cancel()
})

test('an upload of any length passes without being held, whether its length is said or not', async () => {
  const sizeBytes = rounds(128, 2_048) * 2 ** 20
  let left = sizeBytes
  let held = 0
  primaryIs({
    async fetch(request) {
      const { headers } = request
      let received = 0
      for await (const piece of request.body ?? []) {
        received += piece.length
        if (held > 0) continue
        // Who does not read on is sent no more than is on its way.
        for (let before = -1; before !== left; await Bun.sleep(300)) before = left
        held = sizeBytes - left - received
      }
      return Response.json([received, headers.get('content-length'), headers.get('transfer-encoding')])
    },
  })
  const piece = new Uint8Array(256 * 1024).fill(1)
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left === 0) return controller.close()
      controller.enqueue(piece)
      left -= piece.length
    },
  })
  const answer = await fetch(`${pair.follower.url}/api/deployments`, { method: 'POST', body })
  expect(await answer.json()).toEqual([sizeBytes, null, 'chunked'])
  expect(held).toBeGreaterThan(0)
  expect(held).toBeLessThan(48 * 2 ** 20)
}, 120_000)

test.each([
  ['', true],
  // The runtime may refuse them: never is what they frame half an upload.
  ['X-Checksum: 1\r\n', false],
])('an upload that waits for 100 Continue, with the trailers %j', async (trailers, isSure) => {
  primaryIs({
    fetch: async (request) => Response.json([await request.text(), request.headers.get('expect')]),
  })
  const { port } = new URL(pair.follower.url)
  let text = ''
  const visitor = connect(Number(port), '127.0.0.1')
  sockets.add(visitor)
  visitor.on('data', (bytes) => {
    text += bytes.toString()
    if (text.endsWith('100 Continue\r\n\r\n')) visitor.write(`5\r\nhello\r\n0\r\n${trailers}\r\n`)
  })
  visitor.write(
    'POST /api/x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n',
  )
  await new Promise((resolve) => visitor.on('close', resolve))
  if (isSure || text.includes('HTTP/1.1 200')) expect(text).toEndWith('["hello",null]')
  else expect(text).toContain('HTTP/1.1 400')
})
