import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import { onRequest } from '../../testing/tls-backend.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const OK = 'HTTP/1.1 200 OK\r\n'

/** Sends `wire` as the response: at once, or byte by byte in separate packets. */
async function write(socket: Socket, wire: string, isSlow: boolean): Promise<void> {
  if (!isSlow) return void socket.write(wire, 'latin1')
  for (const byte of wire) {
    socket.write(byte, 'latin1')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

type Good = {
  method?: string
  wire: string
  close?: boolean
  status: number
  body: string
  isReused: boolean
}

const good: [name: string, row: Good][] = [
  ['a length', { wire: `${OK}Content-Length: 5\r\n\r\nhello`, status: 200, body: 'hello', isReused: true }],
  [
    'a head whose lines end with LF alone',
    {
      wire: 'HTTP/1.1 200 OK\nContent-Length: 13\n\nhello\r\n\r\nyou\n',
      status: 200,
      body: 'hello\r\n\r\nyou\n',
      isReused: true,
    },
  ],
  [
    'a head with both line ends',
    { wire: `${OK}Content-Length: 5\n\r\nhello`, status: 200, body: 'hello', isReused: true },
  ],
  [
    'a head whose empty line is LF alone',
    { wire: `${OK}Content-Length: 5\r\n\nhello`, status: 200, body: 'hello', isReused: true },
  ],
  [
    'white space before a colon',
    { wire: `${OK}Content-Length \t: 5\r\n\r\nhello`, status: 200, body: 'hello', isReused: true },
  ],
  ['no content', { wire: `${OK}Content-Length: 0\r\n\r\n`, status: 200, body: '', isReused: true }],
  [
    'chunks',
    {
      wire: `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nX-T: 1\r\n\r\n`,
      status: 200,
      body: 'hello',
      isReused: true,
    },
  ],
  [
    'the end of the connection',
    { wire: `${OK}\r\nhello`, close: true, status: 200, body: 'hello', isReused: false },
  ],
  ['an empty body up to the end', { wire: `${OK}\r\n`, close: true, status: 200, body: '', isReused: false }],
  ['204', { wire: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '', isReused: true }],
  [
    '304',
    { wire: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', status: 304, body: '', isReused: true },
  ],
  ['HEAD', { method: 'HEAD', wire: `${OK}Content-Length: 9\r\n\r\n`, status: 200, body: '', isReused: true }],
  [
    'HEAD with chunks',
    {
      method: 'HEAD',
      wire: `${OK}Transfer-Encoding: chunked\r\n\r\n`,
      status: 200,
      body: '',
      isReused: true,
    },
  ],
  [
    'answers in advance',
    {
      wire: `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
      status: 200,
      body: 'ok',
      isReused: true,
    },
  ],
  [
    'Connection: close',
    {
      wire: `${OK}Connection: close\r\nContent-Length: 2\r\n\r\nok`,
      status: 200,
      body: 'ok',
      isReused: false,
    },
  ],
  [
    'HTTP/1.0',
    { wire: 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', status: 200, body: 'ok', isReused: false },
  ],
  [
    'a redirect',
    {
      wire: 'HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n',
      status: 302,
      body: '',
      isReused: true,
    },
  ],
  [
    '5xx',
    { wire: 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno', status: 503, body: 'no', isReused: true },
  ],
  [
    'something behind the body',
    {
      wire: `${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n`,
      status: 200,
      body: 'ok',
      isReused: false,
    },
  ],
  [
    'a body behind an answer that has none',
    {
      wire: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
      status: 204,
      body: '',
      isReused: false,
    },
  ],
]

describe.each([false, true])('byte by byte: %p', (isSlow) => {
  test.each(good)('reads a response with %s', async (_name, row) => {
    const { method = 'GET', wire, close = false, status, body, isReused } = row
    let connections = 0
    const { promise: gone, resolve: firstIsGone } = Promise.withResolvers<void>()
    const { port } = await fixture.backend((socket, index) => {
      connections += 1
      if (index === 0) socket.once('close', () => firstIsGone())
      onRequest(socket, async () => {
        await write(socket, wire, isSlow)
        if (close) socket.end()
      })
    })
    const first = await fixture.send(port, { method })
    expect({ status: first.status, body: await textOf(first.body) }).toEqual({ status, body })
    if (!isReused) await gone
    const second = await fixture.send(port, { method })
    expect({ status: second.status, body: await textOf(second.body) }).toEqual({ status, body })
    expect(connections).toBe(isReused ? 1 : 2)
  })
})

const BROKEN = 'broken'
const broken: [name: string, wire: string, kind: string, message: string][] = [
  ['another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n', BROKEN, 'sent a status line that is not HTTP/1.1'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\n', BROKEN, 'sent a status line that is not HTTP/1.1'],
  ['a folded header', `${OK}A: b\r\n c\r\n\r\n`, BROKEN, 'sent a folded header line'],
  [
    'two lengths',
    `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
    BROKEN,
    'sent its length more than once',
  ],
  [
    'a length and chunks',
    `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    BROKEN,
    'sent both a length and a transfer coding',
  ],
  [
    'gzip as coding',
    `${OK}Transfer-Encoding: gzip\r\n\r\n`,
    BROKEN,
    'sent a transfer coding other than chunked',
  ],
  [
    '100 000 headers',
    `${OK}${'a: b\r\n'.repeat(100_000)}\r\n`,
    BROKEN,
    'sent more than 64 KiB of header fields',
  ],
  [
    'a header of 1 MB',
    `${OK}a: ${'b'.repeat(1e6)}\r\n\r\n`,
    BROKEN,
    'sent more than 64 KiB of header fields',
  ],
  ['201 headers', `${OK}${'a: b\r\n'.repeat(201)}\r\n`, BROKEN, 'sent more than 200 header fields'],
  [
    '101 unasked',
    'HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n',
    BROKEN,
    'sent 101 without being asked',
  ],
  ['1xx for ever', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(99), BROKEN, 'sent too many 1xx answers'],
  ['nothing', '', 'reset', 'closed the connection before it answered'],
  ['half a head', `${OK}Content-Le`, 'reset', 'closed the connection before it answered'],
  [
    'a head in advance alone',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'reset',
    'closed the connection before it answered',
  ],
]

test.each(broken)('rejects %s', async (_name, wire, kind, message) => {
  const { port } = await fixture.backend((socket) => onRequest(socket, () => socket.end(wire, 'latin1')))
  expect(await failureOf(fixture.send(port))).toEqual({
    kind: kind as never,
    message: `backend.test:${port} ${message}`,
  })
})

const cut: [name: string, wire: string, kind: string, message: string][] = [
  [
    'a length that lies',
    `${OK}Content-Length: 500000\r\n\r\nhello`,
    'reset',
    'closed the connection in the middle of its answer',
  ],
  [
    'chunks without an end',
    `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`,
    'reset',
    'closed the connection in the middle of its answer',
  ],
  [
    'a chunk that is cut',
    `${OK}Transfer-Encoding: chunked\r\n\r\n50\r\nhello`,
    'reset',
    'closed the connection in the middle of its answer',
  ],
  [
    'a broken chunk',
    `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n`,
    'broken',
    'sent an invalid chunk size',
  ],
]

test.each(cut)('a response with %s ends in an error', async (_name, wire, kind, message) => {
  const { promise: begun, resolve: beginning } = Promise.withResolvers<void>()
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      const head = wire.indexOf('\r\n\r\n') + 4
      socket.write(wire.slice(0, head + 2))
      await begun
      socket.end(wire.slice(head + 2))
    }),
  )
  const response = await fixture.send(port)
  beginning()
  expect(response.status).toBe(200)
  const { body } = response
  if (!(body instanceof ReadableStream)) throw new Error('came whole')
  expect(await failureOf(Array.fromAsync(body))).toEqual({
    kind: kind as never,
    message: `backend.test:${port} ${message}`,
  })
})

test('a short response with a wrong length fails, or ends in an error', async () => {
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, () => socket.end(`${OK}Content-Length: 50\r\n\r\nhello`)),
  )
  const whole = fixture.send(port).then(({ body }) => textOf(body))
  expect(await failureOf(whole)).toEqual({
    kind: 'reset',
    message: `backend.test:${port} closed the connection in the middle of its answer`,
  })
})

test('the received part of a short response that stalls is passed on', async () => {
  const { promise: begun, resolve: beginning } = Promise.withResolvers<void>()
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      socket.write(`${OK}Content-Length: 8\r\n\r\nhalf`)
      await begun
      socket.write('half')
    }),
  )
  const { status, body } = await fixture.send(port)
  beginning()
  expect([status, await textOf(body)]).toEqual([200, 'halfhalf'])
})

test('a response in a few packets is complete, and its connection serves the next', async () => {
  const sizes = [1, 1_000, 20_000, 131_072, 131_073]
  const { port, received } = await fixture.backend((socket) =>
    onRequest(socket, (_head, index) => {
      const size = sizes[index] ?? 0
      socket.write(`${OK}Content-Length: ${size}\r\n\r\n`)
      setTimeout(() => socket.write(Buffer.alloc(size, `${index}`)), 1)
    }),
  )
  for (const [index, size] of sizes.entries())
    expect((await textOf((await fixture.send(port)).body)) === `${index}`.repeat(size)).toBe(true)
  expect(received).toHaveLength(1)
})

test('a connection reset within a body without a length is an error', async () => {
  const { promise: begun, resolve: beginning } = Promise.withResolvers<void>()
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      socket.write(`${OK}\r\nhello`)
      await begun
      socket.resetAndDestroy()
    }),
  )
  const { body } = await fixture.send(port)
  beginning()
  expect((await failureOf(textOf(body))).kind).toBe('reset')
})

test('bytes on an idle connection are not taken for the next response', async () => {
  const { promise: idle, resolve: isIdle } = Promise.withResolvers<void>()
  const { promise: gone, resolve: isGone } = Promise.withResolvers<void>()
  const { port } = await fixture.backend((socket, index) => {
    socket.once('close', () => isGone())
    onRequest(socket, async () => {
      socket.write(`${OK}Content-Length: 1\r\n\r\n${index}`)
      if (index > 0) return
      await idle
      socket.write(`${OK}Content-Length: 6\r\n\r\npoison`)
    })
  })
  expect(await textOf((await fixture.send(port)).body)).toBe('0')
  isIdle()
  await gone
  expect(await textOf((await fixture.send(port)).body)).toBe('1')
})

test('names and values arrive as sent, including repeated names', async () => {
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, () =>
      socket.write(`${OK}Set-Cookie: a=1\r\nSet-Cookie: b=\xe9\r\nContent-Length: 0\r\n\r\n`, 'latin1'),
    ),
  )
  expect((await fixture.send(port)).headers).toEqual([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=\xe9'],
    ['content-length', '0'],
  ])
})
