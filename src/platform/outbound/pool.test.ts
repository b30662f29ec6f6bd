import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { failureOf, outboundFixtures, textOf } from '../../testing/outbound-fixture.ts'
import { answer, onRequest, rawPlainBackend } from '../../testing/tls-backend.ts'
import { until } from '../../testing/until.ts'

const { setUp, close } = outboundFixtures()
afterAll(close)

/** Answers the first request of its first connection; the test decides about the second. */
const goneStale = (second: (socket: Socket) => void) => (socket: Socket, connection: number) =>
  onRequest(socket, (_head, index) => {
    if (connection === 0 && index === 1) second(socket)
    else answer(socket, `${connection}`)
  })

test.each(['GET', 'HEAD', 'DELETE'])(
  '%s is sent again when its kept connection had ended',
  async (method) => {
    const { backend, send } = setUp()
    const { port, received } = await backend(goneStale((socket) => socket.destroy()))
    await send(port)
    const response = await send(port, { method })
    expect(response.status).toBe(200)
    expect(received).toHaveLength(2)
  },
)

test('a PUT whose bytes are in memory is retried as a whole', async () => {
  const { backend, send } = setUp()
  let connections = 0
  const { port, received } = await backend((socket) => {
    connections += 1
    if (connections === 1)
      onRequest(socket, (_head, index) => (index === 0 ? answer(socket, '') : socket.destroy()))
    else socket.on('data', () => answer(socket, 'kept'))
  })
  await send(port)
  const response = await send(port, { method: 'PUT', body: Buffer.from('content') })
  expect(await textOf(response.body)).toBe('kept')
  expect(received[1]).toEndWith('\r\n\r\ncontent')
})

const once: [name: string, method: string, body: () => Uint8Array | ReadableStream<Uint8Array> | null][] = [
  ['POST', 'POST', () => null],
  ['PATCH', 'PATCH', () => Buffer.from('x')],
  ['PUT of a stream', 'PUT', () => new Response('x').body],
]

test.each(once)('%s is never sent twice', async (_name, method, body) => {
  const { backend, send } = setUp()
  const { port, received } = await backend(goneStale((socket) => socket.destroy()))
  await send(port)
  expect((await failureOf(send(port, { method, body: body() }))).kind).toBe('reset')
  expect(received.join('').split(`${method} /`)).toHaveLength(2)
})

test('a non-repeatable request never uses a connection that may be closing', async () => {
  const { backend, send } = setUp()
  const { port, received } = await backend((socket) => onRequest(socket, () => answer(socket, '')))
  await send(port)
  await send(port, { method: 'POST' })
  expect(received).toHaveLength(1)
  // Longer than a connection is considered fresh.
  await Bun.sleep(2100)
  await send(port, { method: 'POST' })
  expect(received).toHaveLength(2)
})

test('a request is not retried once its response has begun', async () => {
  const { backend, send } = setUp()
  const { port, received } = await backend(goneStale((socket) => void socket.end('HTTP/1.1 2')))
  await send(port)
  expect((await failureOf(send(port))).kind).toBe('reset')
  expect(received).toHaveLength(1)
})

test('a request on a new connection is not retried', async () => {
  const { backend, send } = setUp()
  const { port, received } = await backend((socket) => onRequest(socket, () => socket.destroy()))
  expect((await failureOf(send(port))).kind).toBe('reset')
  expect(received).toHaveLength(1)
})

test('a request is retried only once', async () => {
  const { backend, send } = setUp()
  const { port, received } = await backend((socket) =>
    onRequest(socket, (_head, index) => (index === 0 ? answer(socket, '') : socket.destroy())),
  )
  await Promise.all([send(port), send(port)])
  expect(received).toHaveLength(2)
  expect((await send(port)).status).toBe(200)
  expect(received).toHaveLength(3)
})

test('a backend has limits for requests in progress and waiting, and rejects more', async () => {
  const { backend, send } = setUp({ limits: { maxInFlight: 2, maxWaiting: 1 } })
  const held: Socket[] = []
  const busy = await backend((socket) => onRequest(socket, () => held.push(socket)))
  const other = await backend((socket) => onRequest(socket, () => answer(socket, 'other')))
  const running = [send(busy.port), send(busy.port), send(busy.port)]
  expect(await failureOf(send(busy.port))).toEqual({
    kind: 'overloaded',
    message: `Too many requests to backend.test:${busy.port} are in progress. Try again in a moment.`,
  })
  expect(await textOf((await send(other.port)).body)).toBe('other')
  await until('two requests', () => held.length >= 2)
  expect(held).toHaveLength(2)
  for (const socket of held) answer(socket, 'at last')
  await until('the third request', () => held.length >= 3)
  for (const socket of held.slice(2)) answer(socket, 'at last')
  for (const response of await Promise.all(running)) expect(await textOf(response.body)).toBe('at last')
})

test('300 hanging requests to one backend do not affect another', async () => {
  const { backend, send } = setUp()
  const hanging = await backend(() => {})
  const healthy = await backend((socket) => onRequest(socket, () => answer(socket, 'fine')))
  const abort = new AbortController()
  const stuck = Array.from({ length: 300 }, () => failureOf(send(hanging.port, { signal: abort.signal })))
  for (let i = 0; i < 20; i++) expect(await textOf((await send(healthy.port)).body)).toBe('fine')
  abort.abort()
  for (const { kind } of await Promise.all(stuck)) expect(kind).toBe('aborted')
})

test('waiting for a turn counts against the time for the head', async () => {
  const { backend, send } = setUp({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  const { port, received } = await backend(() => resolve())
  const abort = new AbortController()
  const first = failureOf(send(port, { signal: abort.signal }))
  await connected
  expect((await failureOf(send(port, { headTimeoutMs: 50 }))).kind).toBe('timeout')
  abort.abort()
  expect((await first).kind).toBe('aborted')
  expect(received).toHaveLength(1)
})

test('an allowed name that moves to a forbidden address is rejected, with or without a kept connection', async () => {
  let now = 0
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const { backend, send } = setUp({ resolve, allowedTargets: ['127.0.0.1/32'], now: () => now })
  const { port, received } = await backend((socket) => onRequest(socket, () => answer(socket, '')))
  expect((await send(port)).status).toBe(200)
  now += 25_000
  expect((await send(port)).status).toBe(200)
  await Bun.sleep(0)
  expect((await failureOf(send(port))).kind).toBe('blocked')
  expect(asked).toBe(2)
  expect(received.join('').split('GET /')).toHaveLength(3)
})

test('a kept connection to an old address of the name is not used, allowed or not', async () => {
  let now = 0
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const { backend, send } = setUp({ resolve, now: () => now })
  const { port } = await backend((socket) => onRequest(socket, () => answer(socket, '')))
  expect((await send(port)).status).toBe(200)
  now += 40_000
  expect((await failureOf(send(port))).kind).toBe('refused')
})

test('nor is one whose name moved while the old address was still cached', async () => {
  let now = 0
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['127.0.0.2'])
  const { backend, send } = setUp({ resolve, now: () => now })
  const { port, received } = await backend((socket) => onRequest(socket, () => answer(socket, '')))
  expect((await send(port)).status).toBe(200)
  now += 25_000
  expect((await send(port)).status).toBe(200)
  await Bun.sleep(0)
  expect((await failureOf(send(port))).kind).toBe('refused')
  expect(received.join('').split('GET /')).toHaveLength(3)
})

test('a name that passed when saved is rejected once it resolves to a forbidden address', async () => {
  let now = 0
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['93.184.216.34'] : ['127.0.0.1'])
  const { outbound, send, backend } = setUp({ resolve, allowedTargets: [], now: () => now })
  const { port, received } = await backend(() => {})
  await outbound.checkTarget(new URL(`https://backend.test:${port}/`))
  now += 40_000
  expect((await failureOf(send(port))).kind).toBe('blocked')
  expect(received).toEqual([])
})

test('one request calls the resolver once', async () => {
  let asked = 0
  const resolve = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1'])
  const { backend, send } = setUp({ resolve })
  const { port } = await backend((socket) => onRequest(socket, () => answer(socket, '')))
  expect((await send(port)).status).toBe(200)
  expect(asked).toBe(1)
})

test.each([[['127.0.0.9', '127.0.0.1']], [['::1', '127.0.0.1']]])(
  'of the addresses %p the one that answers is used',
  async (addresses) => {
    const { backend, send } = setUp({ resolve: async () => addresses, allowedTargets: ['backend.test'] })
    const { port } = await backend((socket) => onRequest(socket, () => answer(socket, 'here')))
    expect(await textOf((await send(port)).body)).toBe('here')
  },
)

test('a closed port is reported as refused', async () => {
  const { send } = setUp()
  const { port, close } = await rawPlainBackend(() => {})
  await close()
  expect(await failureOf(send(port))).toEqual({
    kind: 'refused',
    message: `Connection refused: backend.test:${port} does not accept connections, or there is no route to it`,
  })
})

test('plain HTTP is only for callers that allow it', async () => {
  const { outbound } = setUp()
  const plain = await rawPlainBackend((socket) => onRequest(socket, () => answer(socket, 'proof')))
  const url = new URL(`http://backend.test:${plain.port}/.well-known/x`)
  const request = { method: 'GET', headers: [], body: null, headTimeoutMs: 60_000, idleTimeoutMs: 60_000 }
  expect((await failureOf(outbound.request(url, request))).kind).toBe('bad_request')
  const response = await outbound.request(url, { ...request, mayBePlain: true })
  expect(await textOf(response.body)).toBe('proof')
  expect(plain.received[0]).toStartWith('GET /.well-known/x HTTP/1.1\r\n')
  await plain.close()
})

test('closing aborts running, connecting and waiting requests', async () => {
  const { backend, send, outbound } = setUp({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const { promise: connected, resolve } = Promise.withResolvers<void>()
  const hanging = await backend(() => resolve())
  const silent = await rawPlainBackend(() => {})
  const running = [hanging.port, silent.port, silent.port].map((port) => failureOf(send(port)))
  await connected
  outbound.close()
  expect((await Promise.all(running)).map(({ kind }) => kind)).toEqual(['aborted', 'aborted', 'aborted'])
  await silent.close()
})
