import { describe, expect, test } from 'bun:test'
import { chunked, chunkedAtRandom, collect, failureOf, randomBytes } from '../chunks.fixture.ts'
import { gunzip } from './gzip.ts'
import { readTar } from './tar.ts'
import { tarEntries } from './tar-write.ts'

const content = randomBytes(200_000, 1)
const packed = Bun.gzipSync(Buffer.from(content))

describe('gunzip', () => {
  test.each([
    ['one member', packed, content],
    ['two members', Buffer.concat([packed, packed]), Buffer.concat([content, content])],
    ['trailing zeros, as tapes leave them', Buffer.concat([packed, Buffer.alloc(600)]), content],
    ['nothing packed', Bun.gzipSync(Buffer.alloc(0)), new Uint8Array()],
  ])('unpacks %s', async (_, bytes, expected) => {
    for (const cut of [chunked(bytes, 65_536), chunked(bytes, 1000), chunkedAtRandom(bytes, 3000, 7)])
      expect(Buffer.from(await collect(gunzip(cut, expected.length))).equals(expected)).toBe(true)
  })

  test('byte by byte', async () => {
    const bytes = Bun.gzipSync(Buffer.from('hello '.repeat(100)))
    expect(Buffer.from(await collect(gunzip(chunked(bytes, 1), 600))).toString()).toBe('hello '.repeat(100))
  })

  const damaged = Buffer.from(packed)
  damaged.writeUInt8(damaged.readUInt8(packed.length - 6) ^ 1, packed.length - 6)
  test.each([
    ['cut off in the middle', packed.subarray(0, 100_000)],
    ['cut off in the checksum', packed.subarray(0, -5)],
    ['followed by something else', Buffer.concat([packed, Buffer.from('and more')])],
    ['with a wrong checksum', damaged],
    ['not gzip', Buffer.from('this is not gzip at all')],
    ['empty', new Uint8Array()],
  ])('rejects data that is %s', async (_, bytes) => {
    for (const size of [65_536, 1000])
      expect(await failureOf(collect(gunzip(chunked(bytes, size), 10_000_000)))).toMatchObject({
        kind: 'invalid',
      })
  })

  test('stops a bomb at the limit, long before its end', async () => {
    const bomb = Bun.gzipSync(Buffer.alloc(100_000_000))
    let unpacked = 0
    const read = async () => {
      for await (const chunk of gunzip(chunked(bomb, 65_536), 1_000_000)) unpacked += chunk.length
    }
    expect(await failureOf(read())).toMatchObject({
      kind: 'too_large',
      message: 'The unpacked archive is larger than the 1000000 bytes allowed',
    })
    expect(unpacked).toBeLessThanOrEqual(1_000_000)
  })

  test('passes on an error of its source', async () => {
    async function* source() {
      yield packed.subarray(0, 1000)
      throw new Error('gone')
    }
    expect((await failureOf(collect(gunzip(source(), 1_000_000)))).message).toBe('gone')
  })

  test('does not read ahead of a slow reader', async () => {
    let sent = 0
    async function* sender() {
      for await (const chunk of chunked(Bun.gzipSync(Buffer.from(randomBytes(3_000_000, 3))), 10_000)) {
        sent += chunk.length
        yield chunk
      }
    }
    for await (const _ of gunzip(sender(), 10_000_000)) {
      await Bun.sleep(20)
      break
    }
    expect(sent).toBeLessThan(1_000_000)
  })

  test('leaving early closes the source', async () => {
    const closed = Promise.withResolvers<boolean>()
    async function* sender() {
      try {
        yield* chunked(Bun.gzipSync(Buffer.from(randomBytes(3_000_000, 3))), 10_000)
      } finally {
        closed.resolve(true)
      }
    }
    for await (const _ of gunzip(sender(), 10_000_000)) break
    expect(await closed.promise).toBe(true)
  })
})

test('a compressed tar is read through gunzip and readTar', async () => {
  const tar = await collect(tarEntries([{ name: 'a', sizeBytes: 3, body: Buffer.from('ABC') }]))
  const unpacked = gunzip(chunked(Bun.gzipSync(Buffer.from(tar)), 7), 1_000_000)
  const entries = await Array.fromAsync(readTar(unpacked, { maxFiles: 1, maxBytes: 3 }))
  expect(entries).toMatchObject([{ path: 'a', sizeBytes: 3 }])
})
