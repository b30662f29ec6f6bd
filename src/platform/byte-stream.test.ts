import { describe, expect, test } from 'bun:test'
import { AppError } from '../domain/errors.ts'
import { ByteCollector, ByteReader, givingBack, limitBytes, peekHead } from './byte-stream.ts'
import { chunked, chunkedAtRandom, collect, failureOf, randomBytes } from './chunks.fixture.ts'

test('givingBack frees a piece when the next is requested, but not one that shares its memory', async () => {
  const whole = new Uint8Array([1, 2, 3])
  const shared = new Uint8Array([4, 5, 6]).subarray(1)
  async function* source() {
    yield whole
    yield shared
  }
  const taken: number[] = []
  for await (const piece of givingBack(source())) taken.push(...piece)
  expect(taken).toEqual([1, 2, 3, 5, 6])
  expect(whole.length).toBe(0)
  expect([...shared]).toEqual([5, 6])
})

describe('peekHead', () => {
  const bytes = randomBytes(700, 1)

  test.each([1, 7, 511, 512, 513, 700, 5000])(
    'the beginning and all of it, in chunks of %d',
    async (size) => {
      const { head, bytes: all } = await peekHead(chunked(bytes, size), 512)
      expect(head).toEqual(bytes.subarray(0, 512))
      expect(await collect(all)).toEqual(bytes)
    },
  )

  test('of a shorter stream, and of none', async () => {
    for (const length of [3, 0]) {
      const { head, bytes: all } = await peekHead(chunked(bytes.subarray(0, length), 2), 512)
      expect([head.length, (await collect(all)).length]).toEqual([length, length])
    }
  })

  test('closes a source that is not read on', async () => {
    let isClosed = false
    async function* source() {
      try {
        for (;;) yield bytes
      } finally {
        isClosed = true
      }
    }
    await (await peekHead(source(), 512)).close()
    expect(isClosed).toBe(true)
  })
})

describe('limitBytes', () => {
  const ten = new Uint8Array(10)

  test('passes on as many bytes as are allowed', async () => {
    expect((await collect(limitBytes(chunked(ten, 3), 10, 'The request body'))).length).toBe(10)
  })

  test('rejects one byte more and stops reading', async () => {
    let handedOut = 0
    let isClosed = false
    async function* source() {
      try {
        for (const chunk of [ten, ten, ten]) {
          handedOut++
          yield chunk
        }
      } finally {
        isClosed = true
      }
    }
    const failure = await failureOf(collect(limitBytes(source(), 19, 'The request body')))
    expect(failure).toMatchObject({
      kind: 'too_large',
      message: 'The request body is larger than the 19 bytes allowed',
    })
    expect(handedOut).toBe(2)
    expect(isClosed).toBe(true)
  })

  test('reports a source that fails as cut off, and keeps the cause', async () => {
    const cause = new Error('The connection was closed.')
    async function* source() {
      yield ten
      throw cause
    }
    const failure = await failureOf(collect(limitBytes(source(), 100, 'The request body')))
    expect(failure).toBeInstanceOf(AppError)
    expect(failure).toMatchObject({ kind: 'invalid', cause })
  })

  test('is ended when the client of a real server goes away', async () => {
    const failed = Promise.withResolvers<unknown>()
    const arrived = Promise.withResolvers<void>()
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        arrived.resolve()
        await collect(limitBytes(request.body ?? chunked(ten, 1), 100, 'The request body')).catch(
          failed.resolve,
        )
        return new Response()
      },
    })
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: server.port ?? 0,
      socket: { data() {} },
    })
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\nhello')
    socket.flush()
    await arrived.promise
    socket.terminate()
    expect(await failed.promise).toMatchObject({ kind: 'invalid' })
  })
})

describe('ByteReader', () => {
  const bytes = randomBytes(1000, 1)

  test.each([1, 2, 3, 7, 100, 999, 1000, 5000])(
    'takes what was asked for, from pieces of %p',
    async (size) => {
      const reader = new ByteReader(chunked(bytes, size))
      expect(reader.hasStarted).toBe(false)
      expect(await reader.take(10)).toEqual(bytes.slice(0, 10))
      expect(reader.hasStarted).toBe(true)
      expect(await reader.skip(300)).toBe(true)
      expect(await reader.take(0)).toEqual(new Uint8Array())
      expect(await reader.take(600)).toEqual(bytes.slice(310, 910))
      expect(await reader.take(600)).toEqual(bytes.slice(910))
      expect((await reader.takeSome(10)).length).toBe(0)
      expect(await reader.skip(1)).toBe(false)
    },
  )

  test('returns without waiting only what is in one chunk', async () => {
    const reader = new ByteReader(chunked(bytes, 100))
    expect(reader.takeArrived(1)).toBeUndefined()
    expect(await reader.takeSome(40)).toEqual(bytes.slice(0, 40))
    expect(reader.takeArrived(60)).toEqual(bytes.slice(40, 100))
    expect(reader.takeArrived(1)).toBeUndefined()
  })

  test('closes its source', async () => {
    let isClosed = false
    async function* source() {
      try {
        yield bytes
        yield bytes
      } finally {
        isClosed = true
      }
    }
    const reader = new ByteReader(source())
    await reader.take(1)
    await reader.close()
    expect(isClosed).toBe(true)
  })
})

test('ByteCollector puts pieces together in order', async () => {
  const bytes = randomBytes(10_000, 2)
  const collector = new ByteCollector()
  for await (const piece of chunkedAtRandom(bytes, 700, 3)) collector.push(piece)
  expect(collector.sizeBytes).toBe(bytes.length)
  expect(Buffer.from(collector.bytes()).equals(bytes)).toBe(true)
})

test('ByteCollector leaves alone what somebody looks at, and starts again once it is cleared', () => {
  const collector = new ByteCollector()
  collector.push(Uint8Array.of(1, 2))
  const seen = collector.bytes()
  for (let i = 0; i < 100; i++) collector.push(Uint8Array.of(3, 4))
  expect([...seen]).toEqual([1, 2])
  expect(collector.bytes()).toHaveLength(202)
  collector.clear()
  expect(collector.sizeBytes).toBe(0)
  collector.push(Uint8Array.of(5))
  expect([...collector.bytes()]).toEqual([5])
})
