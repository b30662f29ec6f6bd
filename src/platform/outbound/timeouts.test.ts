import { afterAll, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import { onRequest, rawPlainBackend } from '../../testing/tls-backend.ts'
import { until } from '../../testing/until.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n'

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** A backend that exposes its only connection as a promise. */
async function backendThat(act: (socket: Socket) => void) {
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const backend = await fixture.backend((socket) => {
    resolve(socket)
    onRequest(socket, () => act(socket))
  })
  return { ...backend, socket: promise }
}

/** The same with the connection established first, so that connecting does not count towards any limit. */
async function keptBackendThat(act: (socket: Socket) => void) {
  let asked = 0
  const backend = await backendThat((socket) => {
    asked += 1
    if (asked === 1) socket.write(`${HEAD}0123456789`)
    else act(socket)
  })
  await fixture.send(backend.port)
  return backend
}

test('a late head is a timeout, and the connection is closed', async () => {
  const { port, socket } = await keptBackendThat(() => {})
  const failure = failureOf(fixture.send(port, { headTimeoutMs: 100 }))
  const gone = socket.then(closed)
  expect(await failure).toEqual({
    kind: 'timeout',
    message: `backend.test:${port} did not answer within 100 ms`,
  })
  await gone
})

test('a head that arrives byte by byte does not extend the limit', async () => {
  const { port } = await backendThat(async (socket) => {
    for (const byte of HEAD.slice(0, 20)) {
      socket.write(byte)
      await Bun.sleep(20)
    }
  })
  expect((await failureOf(fixture.send(port, { headTimeoutMs: 100 }))).kind).toBe('timeout')
})

test('a TLS handshake that hangs is a timeout', async () => {
  const silent = await rawPlainBackend(() => {})
  expect(await failureOf(fixture.send(silent.port, { headTimeoutMs: 100 }))).toEqual({
    kind: 'timeout',
    message: `backend.test:${silent.port} was not reached within 100 ms`,
  })
  await silent.close()
})

test('abandoned attempts do not pile up', async () => {
  const small = outboundFixture({ limits: { maxInFlight: 1, maxWaiting: 0 } })
  let released = 0
  const silent = await rawPlainBackend((socket) => {
    socket.once('close', () => {
      released += 1
    })
  })
  for (let i = 0; i < 5; i++) {
    expect((await failureOf(small.send(silent.port, { headTimeoutMs: 30 }))).kind).toBe('timeout')
    await until('the end of the connection', () => released > i)
  }
  await silent.close()
  await small.close()
})

test('a lookup that never ends is a timeout', async () => {
  const slow = outboundFixture({ resolve: () => new Promise(() => {}) })
  expect((await failureOf(slow.send(443, { headTimeoutMs: 50 }))).kind).toBe('timeout')
  await slow.close()
})

test('silence within a body aborts it', async () => {
  const { port, socket } = await backendThat((one) => one.write(`${HEAD}hello`))
  const response = await fixture.send(port, { idleTimeoutMs: 100 })
  const gone = socket.then(closed)
  expect(await failureOf(textOf(response.body))).toEqual({
    kind: 'stalled',
    message: `backend.test:${port} was silent for 100 ms in the middle of its answer`,
  })
  await gone
})

test('a response that keeps sending may last longer than the limit', async () => {
  const { port } = await backendThat(async (socket) => {
    socket.write(HEAD)
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(250)
      socket.write('xx')
    }
  })
  const response = await fixture.send(port, { idleTimeoutMs: 1000 })
  expect(await textOf(response.body)).toBe('x'.repeat(10))
})

test('the allowed silence may depend on the head', async () => {
  const { port } = await backendThat(async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 2\r\n\r\na')
    await Bun.sleep(150)
    socket.write('b')
  })
  const response = await fixture.send(port, {
    idleTimeoutMs: (_status, headers) =>
      headers.some(([, value]) => value === 'text/event-stream') ? 5_000 : 50,
  })
  expect(await textOf(response.body)).toBe('ab')
})

test('a request body that stalls is a timeout', async () => {
  const { port } = await keptBackendThat(() => {})
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(Buffer.from('x')) })
  expect(await failureOf(fixture.send(port, { method: 'POST', body, headTimeoutMs: 100 }))).toEqual({
    kind: 'timeout',
    message: 'The request body stalled for 100 ms',
  })
})

test('a request body that keeps sending does not time out', async () => {
  const { port } = await fixture.backend((socket) =>
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1')
      if (text.startsWith('GET') || text.endsWith('0\r\n\r\n')) socket.write(`${HEAD}0123456789`)
    }),
  )
  await fixture.send(port)
  let left = 5
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(250)
      if (left-- > 0) controller.enqueue(Buffer.from('x'))
      else controller.close()
    },
  })
  expect((await fixture.send(port, { method: 'POST', body, headTimeoutMs: 1000 })).status).toBe(200)
})

test('a signal ends the request before the head', async () => {
  const { port, socket } = await backendThat(() => abort.abort())
  const abort = new AbortController()
  expect(await failureOf(fixture.send(port, { signal: abort.signal }))).toEqual({
    kind: 'aborted',
    message: `The request to backend.test:${port} was given up`,
  })
  await socket.then((one) => (one.destroyed ? undefined : closed(one)))
})

test('with a signal that has already fired, nothing is sent', async () => {
  const { port, received } = await backendThat(() => {})
  expect((await failureOf(fixture.send(port, { signal: AbortSignal.abort() }))).kind).toBe('aborted')
  expect(received).toEqual([])
})

test('a signal ends the connection within a body', async () => {
  const { port, socket } = await backendThat((one) => one.write(`${HEAD}hello`))
  const abort = new AbortController()
  const response = await fixture.send(port, { signal: abort.signal })
  const gone = socket.then(closed)
  abort.abort()
  expect((await failureOf(textOf(response.body))).kind).toBe('aborted')
  await gone
})

test('a body that is cancelled ends the connection', async () => {
  const { port, socket } = await backendThat((one) => one.write(`${HEAD}hello`))
  const response = await fixture.send(port)
  const gone = socket.then(closed)
  if (!(response.body instanceof ReadableStream)) throw new Error('came whole')
  await response.body.cancel()
  await gone
})

test('a signal that fires after the response has no effect', async () => {
  const { port } = await backendThat((socket) => socket.write(`${HEAD}0123456789`))
  const abort = new AbortController()
  const response = await fixture.send(port, { signal: abort.signal })
  abort.abort()
  expect(await textOf(response.body)).toBe('0123456789')
  expect((await fixture.send(port)).status).toBe(200)
})
