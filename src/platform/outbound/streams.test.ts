import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { failureOf, outboundFixture, textOf } from '../../testing/outbound-fixture.ts'
import { onRequest } from '../../testing/tls-backend.ts'
import { until } from '../../testing/until.ts'

const fixture = outboundFixture()
afterAll(() => fixture.close())

const MIB = 2 ** 20
/** The most that sockets, their system buffers and one stream hold between two ends that do not read. */
const MAX_IN_BETWEEN = 24 * MIB
const PIECE = Buffer.alloc(MIB, 'abcdefg')
const EMPTY_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'

/** Yields `PIECE` this many times, and counts how many were taken. */
function source(pieces: number) {
  const state = { taken: 0, isCancelled: false }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (state.taken === pieces) return controller.close()
        state.taken += 1
        controller.enqueue(PIECE)
      },
      cancel() {
        state.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { body, state }
}

function sha256(pieces: number): string {
  const hash = createHash('sha256')
  for (let i = 0; i < pieces; i++) hash.update(PIECE)
  return hash.digest('hex')
}

/** Calls back with the bytes after the head of a request, as they arrive. */
function onBody(socket: Socket, take: (bytes: Buffer) => void): void {
  let head = ''
  let isBody = false
  socket.on('data', (bytes: Buffer) => {
    if (isBody) return take(bytes)
    head += bytes.toString('latin1')
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    isBody = true
    take(Buffer.from(head.slice(end + 4), 'latin1'))
  })
}

const settled = async (read: () => number): Promise<number> => {
  for (;;) {
    const before = read()
    await Bun.sleep(150)
    if (read() === before) return before
  }
}

test('a backend that does not read pauses the request body; all of it arrives in the end', async () => {
  const pieces = 64
  const { promise: connected, resolve } = Promise.withResolvers<Socket>()
  const hash = createHash('sha256')
  let length = 0
  const { port } = await fixture.backend((socket) => {
    onBody(socket, (bytes) => {
      hash.update(bytes)
      length += bytes.length
      if (length === pieces * MIB) socket.write(EMPTY_ANSWER)
    })
    socket.pause()
    resolve(socket)
  })
  const { body, state } = source(pieces)
  const headers: [string, string][] = [['content-length', `${pieces * MIB}`]]
  const response = fixture.send(port, { method: 'POST', body, headers })
  const socket = await connected
  expect((await settled(() => state.taken)) * MIB).toBeLessThan(MAX_IN_BETWEEN)
  socket.resume()
  expect((await response).status).toBe(200)
  expect(hash.digest('hex')).toBe(sha256(pieces))
})

test('a reader that does not read pauses the backend; all of it arrives in the end', async () => {
  const pieces = 64
  let written = 0
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, async () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${pieces * MIB}\r\n\r\n`)
      for (; written < pieces; written++)
        if (!socket.write(PIECE)) await new Promise((resolve) => socket.once('drain', resolve))
    }),
  )
  const { body } = await fixture.send(port)
  expect((await settled(() => written)) * MIB).toBeLessThan(MAX_IN_BETWEEN)
  if (!(body instanceof ReadableStream)) throw new Error('came whole')
  const hash = createHash('sha256')
  for await (const piece of body) hash.update(piece)
  expect(hash.digest('hex')).toBe(sha256(pieces))
  expect((await fixture.send(port, { method: 'HEAD' })).status).toBe(200)
})

test('a complete response that nobody reads does not block the next one on its connection', async () => {
  const one = outboundFixture({ limits: { maxInFlight: 1, maxWaiting: 1 } })
  const { port, received } = await one.backend((socket) =>
    onRequest(socket, (_head, index) => {
      if (index > 0) return void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext')
      // The last bytes alone make the reader fall behind.
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 132000\r\n\r\n')
      socket.write(Buffer.alloc(120_000, 'x'))
      setTimeout(() => socket.write(Buffer.alloc(12_000, 'x')), 50)
    }),
  )
  const first = await one.send(port)
  const second = await one.send(port)
  expect(await textOf(second.body)).toBe('next')
  expect(received).toHaveLength(1)
  expect(await textOf(first.body)).toHaveLength(132_000)
  await one.close()
})

test('a stream of unknown length goes out in chunks', async () => {
  const { port, received } = await fixture.backend((socket) =>
    socket.on(
      'data',
      (bytes) => bytes.toString('latin1').endsWith('0\r\n\r\n') && socket.write(EMPTY_ANSWER),
    ),
  )
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of ['hello', '', 'w'.repeat(300)]) controller.enqueue(Buffer.from(text))
      controller.close()
    },
  })
  expect((await fixture.send(port, { method: 'POST', body })).status).toBe(200)
  const [, content] = received[0]?.split('\r\n\r\n5') ?? []
  expect(received[0]).toContain('\r\ntransfer-encoding: chunked\r\n')
  expect(content).toBe(`\r\nhello\r\n12c\r\n${'w'.repeat(300)}\r\n0\r\n\r\n`)
})

const wrongLengths: [name: string, declared: string][] = [
  ['longer', '4'],
  ['shorter', '6'],
]

test.each(wrongLengths)(
  'a body that is %s than declared is aborted, never passed on as complete',
  async (_name, declared) => {
    let text = ''
    const gone = Promise.withResolvers<void>()
    const { port } = await fixture.backend((socket) => {
      onBody(socket, (bytes) => {
        text += bytes.toString('latin1')
      })
      socket.on('close', () => gone.resolve())
    })
    const body = new Response('hello').body
    const headers: [string, string][] = [['content-length', declared]]
    expect(await failureOf(fixture.send(port, { method: 'POST', body, headers }))).toEqual({
      kind: 'aborted',
      message: 'The request body failed or did not have its declared length',
    })
    await gone.promise
    expect(text.length).toBeLessThanOrEqual(Number(declared))
  },
)

test('a request body that fails aborts the request', async () => {
  const gone = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const { port, received } = await fixture.backend((socket) => {
    socket.on('data', (bytes) => bytes.toString('latin1').endsWith('part\r\n') && arrived.resolve())
    socket.on('close', () => gone.resolve())
  })
  let pulls = 0
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (pulls++ === 0) return controller.enqueue(Buffer.from('part'))
      await arrived.promise
      throw new Error('the visitor left')
    },
  })
  expect((await failureOf(fixture.send(port, { method: 'POST', body }))).kind).toBe('aborted')
  await gone.promise
  expect(received[0]).toEndWith('4\r\npart\r\n')
})

describe('a response before the end of the request', () => {
  const early = (answer: string) =>
    fixture.backend((socket) => {
      socket.once('data', () => socket.write(answer))
      socket.resume()
    })

  test('arrives, ends the upload, and its connection is not reused', async () => {
    const { port, received } = await early('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
    const { body, state } = source(10_000)
    const response = await fixture.send(port, { method: 'POST', body })
    expect([response.status, await textOf(response.body)]).toEqual([413, 'no'])
    await until('the end of the upload', () => state.isCancelled)
    expect(state.taken).toBeLessThan(10_000)
    expect((await fixture.send(port)).status).toBe(413)
    expect(received).toHaveLength(2)
  })

  test('may come while the body is still being sent', async () => {
    const { port } = await fixture.backend((socket) => {
      socket.once('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n'),
      )
      socket.on(
        'data',
        (bytes) => bytes.toString('latin1').endsWith('0\r\n\r\n') && socket.write('4\r\nlast\r\n0\r\n\r\n'),
      )
    })
    const answered = Promise.withResolvers<void>()
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from('a'))
        await answered.promise
        controller.enqueue(Buffer.from('b'))
        controller.close()
      },
    })
    const response = await fixture.send(port, { method: 'POST', body })
    answered.resolve()
    expect(await textOf(response.body)).toBe('firstlast')
  })
})

test('more bytes than a socket accepts at once arrive complete', async () => {
  const content = Buffer.concat(Array.from({ length: 20 }, () => PIECE))
  const hash = createHash('sha256')
  let length = 0
  const { port } = await fixture.backend((socket) =>
    onBody(socket, (bytes) => {
      hash.update(bytes)
      length += bytes.length
      if (length === content.length) socket.write(EMPTY_ANSWER)
    }),
  )
  expect((await fixture.send(port, { method: 'PUT', body: content })).status).toBe(200)
  expect(hash.digest('hex')).toBe(sha256(20))
})

test('server-sent events pass through one by one', async () => {
  const { promise: connected, resolve } = Promise.withResolvers<Socket>()
  const { port } = await fixture.backend((socket) =>
    onRequest(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
      resolve(socket)
    }),
  )
  const { body } = await fixture.send(port)
  if (!(body instanceof ReadableStream)) throw new Error('came whole')
  const reader = body.getReader()
  const socket = await connected
  for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
    socket.write(event)
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(event)
  }
  await reader.cancel()
})
