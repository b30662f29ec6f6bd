import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import {
  type ObjectServer,
  STORE_KEYS,
  type StoreFault,
  startObjectServer,
} from '../../testing/object-server.ts'
import { until } from '../../testing/until.ts'
import { type BlobStore, ContentMiss, openBlobStore, type StoredBlob, withContents } from '../blob-store.ts'
import { collect, failureOf, randomBytes } from '../chunks.fixture.ts'
import { openObjectStore } from '../object-store.ts'

const MIB = 2 ** 20
const hashOf = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, 'hex')

let dataDir: string
let server: ObjectServer
let blobs: BlobStore
let timeoutMs: number
const opened: BlobStore[] = []

const open = async (cacheBytes = 64 * MIB): Promise<BlobStore> => {
  const store = openObjectStore({
    ...STORE_KEYS,
    bucket: 'bucket',
    prefix: '',
    endpoint: server.endpoint,
    timeoutMs,
    now: Date.now,
    writer: 'w1',
  })
  const remote = { store, epoch: () => 1, cacheBytes }
  const made = await openBlobStore(dataDir, () => Bun.randomUUIDv7(), remote)
  opened.push(made)
  return made
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-stored-'))
  server = startObjectServer()
  timeoutMs = 20_000
  blobs = await open()
})
afterEach(async () => {
  for (const store of opened.splice(0)) store.close()
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

async function storeAll(...contents: Uint8Array[]): Promise<StoredBlob[]> {
  const stage = blobs.stage(() => 'absent')
  for (const content of contents) await stage.add(content)
  const stored = await stage.seal()
  stage.release()
  return stored
}

/** As a machine that has nothing of them: what was stored is removed, and whatever keeps it open. */
async function forget(cacheBytes?: number): Promise<void> {
  for (const store of opened.splice(0)) store.close()
  for (const folder of ['blobs/packs', 'blobs/files', 'cache'])
    rmSync(join(dataDir, folder), { recursive: true, force: true })
  blobs = await open(cacheBytes)
  server.requests.length = 0
}

const keys = () => [...server.objects.keys()].sort()
const read = async (blob: StoredBlob | undefined): Promise<Uint8Array> => {
  if (blob === undefined) throw new Error('There is no such content')
  return withContents({ blobs }, () => blobs.readSync(blob))
}
const ranges = () => server.requests.map(({ key, headers }) => `${key} ${headers.get('range')}`)
const equals = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

function filesBelow(folder: string): { path: string; bytes: number }[] {
  if (!existsSync(join(dataDir, folder))) return []
  return readdirSync(join(dataDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, bytes: statSync(path).size }))
}
const bytesBelow = (...folders: string[]) =>
  folders.flatMap(filesBelow).reduce((sum, { bytes }) => sum + bytes, 0)

const small = Buffer.from('a small page')
const large = randomBytes(3 * MIB + 17, 1)

describe('storing', () => {
  test('what is sealed is in the store: small contents as one pack, each large one as a file', async () => {
    const [first, big] = await storeAll(small, large, Buffer.from('another'))
    expect(keys()).toEqual([`files/${hashOf(large)}-${big?.object}`, `packs/${first?.pack}`])
    expect(equals(server.objects.get(keys()[0] ?? '')?.bytes ?? small, large)).toBe(true)
    expect(server.requests.every(({ headers }) => headers.get('if-none-match') === '*')).toBe(true)
  })

  test('5,000 files of 10 KB are at most 10 objects', async () => {
    const stage = blobs.stage(() => 'absent')
    for (let i = 0; i < 5000; i++) await stage.add(randomBytes(10 * 1024, i))
    await stage.seal()
    expect(keys().length).toBeLessThanOrEqual(10)
  })

  test('a content that comes again after it was deleted is another object', async () => {
    await storeAll(large)
    await storeAll(large)
    expect(keys()).toHaveLength(2)
  })

  test.each<[string, StoreFault]>([
    ['answers 500', { status: 500 }],
    ['hangs', { hang: 'before' }],
    ['is no store', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
  ])('where the store %s nothing is sealed', async (_, fault) => {
    timeoutMs = 500
    blobs = await open()
    server.fault = ({ method }) => (method === 'PUT' ? fault : undefined)
    const stage = blobs.stage(() => 'absent')
    await stage.add(small)
    await stage.add(large)
    const failure = await failureOf(stage.seal())
    expect(failure).toMatchObject({ code: 'STORE_UNREACHABLE', status: 503, headers: { 'retry-after': '5' } })
    await stage.discard()
    expect(keys()).toEqual([])
    expect(filesBelow('blobs')).toEqual([])
  })

  test('an upload that is given up takes its objects with it', async () => {
    const stage = blobs.stage(() => 'absent')
    await stage.add(small)
    await stage.add(large)
    await stage.seal()
    expect(keys()).toHaveLength(2)
    await stage.discard()
    expect(keys()).toEqual([])
  })

  test('a pack is rewritten as another object, also when it is not here', async () => {
    const [kept, , last] = await storeAll(small, randomBytes(500_000, 2), Buffer.from('last'))
    await forget()
    const live = [kept, last].flatMap((blob) => blob ?? [])
    const moved = await blobs.rewritePack(kept?.pack ?? '', live)
    expect(keys()).toEqual([`packs/${kept?.pack}`, `packs/${moved[0]?.pack}`].sort())
    await forget()
    expect(Buffer.from(await read(moved[1])).toString()).toBe('last')
  })
})

describe('reading', () => {
  test('what this machine stored is read without the store', async () => {
    const [one, big] = await storeAll(small, large)
    server.requests.length = 0
    expect(equals(await read(one), small)).toBe(true)
    expect(equals(await read(big), large)).toBe(true)
    expect(server.requests).toEqual([])
  })

  test('a miss is thrown at once, and fetched block by block', async () => {
    const [one, big] = await storeAll(small, large)
    await forget()
    expect(() => one && blobs.readSync(one)).toThrow(ContentMiss)
    expect(equals(await read(one), small)).toBe(true)
    expect(ranges()).toEqual([`packs/${one?.pack} bytes=0-${MIB - 1}`])
    server.requests.length = 0
    expect(
      big && equals(await collect(blobs.stream(big, MIB + 5, MIB + 10)), large.slice(MIB + 5, MIB + 10)),
    ).toBe(true)
    expect(ranges()).toEqual([`files/${hashOf(large)}-${big?.object} bytes=${MIB}-${2 * MIB - 1}`])
  })

  test('those who miss a block at once share one fetch', async () => {
    const stored = await storeAll(...Array.from({ length: 50 }, (_, i) => randomBytes(1000, i)))
    await forget()
    await Promise.all(stored.map(read))
    expect(server.requests).toHaveLength(1)
  })

  test('40 pages of 30 files take no more requests than blocks', async () => {
    const files = Array.from({ length: 1200 }, (_, i) => randomBytes(10 * 1024, i))
    const stored = await storeAll(...files)
    await forget()
    for (let page = 0; page < 40; page++) await Promise.all(stored.slice(page * 30, page * 30 + 30).map(read))
    expect(server.requests.length).toBe(Math.ceil((1200 * 10 * 1024) / MIB))
  })

  test('a content over two blocks, an empty one, and one of exactly a block', async () => {
    const contents = [randomBytes(MIB - 10, 1), randomBytes(300, 2), new Uint8Array(), randomBytes(MIB, 3)]
    const stored = await storeAll(...contents)
    await forget()
    for (const [i, content] of contents.entries()) expect(equals(await read(stored[i]), content)).toBe(true)
  })

  test('blocks of before a restart are used, and the cache may be removed while it is read', async () => {
    const [one, big] = await storeAll(small, large)
    await forget()
    await read(one)
    blobs.close()
    blobs = await open()
    server.requests.length = 0
    await read(one)
    expect(server.requests).toEqual([])
    rmSync(join(dataDir, 'cache'), { recursive: true })
    expect(equals(await read(one), small)).toBe(true)
    for (let i = 0; i < 3; i++) {
      const piece = big && (await collect(blobs.stream(big)))
      expect(piece && equals(piece, large)).toBe(true)
      rmSync(join(dataDir, 'cache'), { recursive: true })
    }
  })

  test('work with many contents ends, however small the cache', async () => {
    const contents = Array.from({ length: 70 }, (_, i) => randomBytes(MIB - 1, i))
    const stored = await storeAll(...contents)
    await forget(64 * MIB)
    const all = await withContents({ blobs }, () => stored.map((blob) => blobs.readSync(blob).length))
    expect(all).toEqual(contents.map(({ length }) => length))
  })
})

describe('a store that fails', () => {
  test.each<[string, StoreFault]>([
    ['answers 500', { status: 500 }],
    ['hangs', { hang: 'before' }],
    ['is cut off', { cut: true }],
    ['is no store', { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }],
    ['refuses', { status: 403, code: 'AccessDenied' }],
  ])('%s: what is not here is 503, what is here is read, and afterwards all is', async (_, fault) => {
    const [one, big] = await storeAll(small, large)
    timeoutMs = 500
    await forget()
    await read(one)
    server.fault = () => fault
    expect(equals(await read(one), small)).toBe(true)
    const failure = await failureOf(read(big))
    expect(failure).toMatchObject({
      code: 'CONTENT_UNREACHABLE',
      status: 503,
      headers: { 'retry-after': '5' },
    })
    if (big !== undefined) expect(await failureOf(blobs.verify(big))).toBeInstanceOf(AppError)
    server.fault = () => undefined
    // For a moment after a failure everybody is refused at once.
    await until('it is read', async () => {
      const bytes = await read(big).catch(() => undefined)
      return bytes !== undefined && equals(bytes, large)
    })
  })

  test('while it hangs, others wait for nothing', async () => {
    const stored = await storeAll(...Array.from({ length: 60 }, (_, i) => randomBytes(MIB - 1, i)))
    timeoutMs = 1_000
    await forget()
    await read(stored[0])
    server.fault = () => ({ hang: 'before' })
    const waiting = Promise.allSettled(stored.map(read))
    expect((await read(stored[0])).length).toBe(MIB - 1)
    const ended = await waiting
    expect(ended.filter(({ status }) => status === 'rejected')).toHaveLength(59)
    // Those whose turn has not come are refused with the first.
    expect(new Set(ranges()).size).toBeLessThanOrEqual(1 + 16)
  })

  test('an object that is gone, or shorter, is damage and not a wrong page', async () => {
    const [one, big] = await storeAll(small, large)
    await forget()
    server.objects.delete(`packs/${one?.pack}`)
    expect(await failureOf(read(one))).not.toBeInstanceOf(AppError)
    const key = `files/${hashOf(large)}-${big?.object}`
    server.objects.set(key, { bytes: large.slice(0, 2 * MIB + 1), headers: {} })
    expect(await failureOf(read(big))).toBeInstanceOf(Error)
    if (big === undefined) throw new Error('There is no large content')
    expect(await failureOf(collect(blobs.stream(big)))).toBeInstanceOf(Error)
    expect(await blobs.verify(big)).toBe(false)
  })

  test('flipped bytes of the store are never given out as a whole content', async () => {
    const [one, big] = await storeAll(small, large)
    await forget()
    for (const { bytes } of server.objects.values()) bytes[5] = (bytes[5] ?? 0) ^ 1
    expect(await failureOf(read(one))).toMatchObject({ message: expect.stringContaining('is damaged') })
    if (big === undefined) throw new Error('There is no large content')
    const received: Uint8Array[] = []
    const failure = await failureOf(
      (async () => {
        for await (const piece of blobs.stream(big)) received.push(piece)
      })(),
    )
    expect(failure).toMatchObject({ message: expect.stringContaining('is damaged') })
    expect(Buffer.concat(received).length).toBeLessThan(large.length)
    expect(await blobs.verify(big)).toBe(false)
  })
})

describe('damage of a copy', () => {
  const damages: [string, (path: string) => void][] = [
    ['flipped', (path) => flip(path)],
    ['cut', (path) => truncateSync(path, 3)],
    ['empty', (path) => truncateSync(path, 0)],
  ]
  test.each(damages)('a block that is %s is fetched anew', async (_, damage) => {
    const [one, big] = await storeAll(small, large)
    await forget()
    await read(one)
    await read(big)
    for (const { path } of filesBelow('cache')) damage(path)
    expect(equals(await read(one), small)).toBe(true)
    expect(equals(await read(big), large)).toBe(true)
    if (big !== undefined) expect(await blobs.verify(big)).toBe(true)
  })

  test.each(damages)('what this machine stored and is %s is fetched anew', async (_, damage) => {
    const [one, big] = await storeAll(small, large)
    for (const { path } of filesBelow('blobs')) damage(path)
    expect(equals(await read(one), small)).toBe(true)
    expect(equals(await read(big), large)).toBe(true)
    if (big !== undefined) expect(await blobs.verify(big)).toBe(true)
  })
})

const flip = (path: string): void => {
  const bytes = readFileSync(path)
  bytes[2] = (bytes[2] ?? 0) ^ 255
  writeFileSync(path, bytes)
}

describe('the size of the cache', () => {
  const LIMIT = 64 * MIB
  const used = () => bytesBelow('cache', 'blobs')

  test('stays below the limit while many read more than it holds', async () => {
    const contents = Array.from({ length: 100 }, (_, i) => randomBytes(MIB - 100, i))
    const stored = await storeAll(...contents)
    await forget(LIMIT)
    let most = 0
    for (let round = 0; round < 2; round++) {
      await Promise.all(
        stored.map(async (blob, i) => {
          expect(hashOf(await read(blob))).toBe(hashOf(contents[i] ?? small))
          if (i % 10 === 0) most = Math.max(most, used())
        }),
      )
    }
    expect(most).toBeLessThanOrEqual(LIMIT)
    expect(blobs.remote?.cache.bytes).toBe(used())
  })

  test('the least recently used goes first', async () => {
    const stored = await storeAll(...Array.from({ length: 70 }, (_, i) => randomBytes(MIB + 1, i)))
    await forget(LIMIT)
    const firstBlock = (blob: StoredBlob) => collect(blobs.stream(blob, 0, 10))
    for (const blob of stored.slice(0, 60)) await firstBlock(blob)
    const [oldest] = stored
    if (oldest === undefined) throw new Error('Nothing was stored')
    await firstBlock(oldest)
    for (const blob of stored.slice(60)) await firstBlock(blob)
    server.requests.length = 0
    await firstBlock(oldest)
    expect(server.requests).toEqual([])
    await firstBlock(stored[1] ?? oldest)
    expect(server.requests).toHaveLength(1)
  })

  test('what is removed, or given up, counts no more', async () => {
    const [one, big] = await storeAll(small, large)
    const stage = blobs.stage(() => 'absent')
    await stage.add(randomBytes(100, 5))
    await stage.seal()
    await stage.discard()
    await blobs.removePack(one?.pack ?? '')
    await blobs.removeFiles([hashOf(large)])
    expect(blobs.remote?.cache.bytes).toBe(0)
    await read(one)
    await read(big)
    expect(blobs.remote?.cache.bytes).toBe(small.length + large.length)
    for (const key of keys()) await blobs.remote?.delete(key)
    expect([blobs.remote?.cache.bytes, used(), keys()]).toEqual([0, 0, []])
  })

  test('what is stored counts, and what was there at the start', async () => {
    await storeAll(Buffer.alloc(40 * MIB, 1))
    const [second] = await storeAll(Buffer.alloc(40 * MIB, 2))
    expect(used()).toBe(40 * MIB)
    blobs.close()
    blobs = await open()
    await blobs.remote?.listed()
    expect(blobs.remote?.cache).toMatchObject({ bytes: 40 * MIB, limitBytes: LIMIT })
    expect(second && blobs.file(second)?.size).toBe(40 * MIB)
    await storeAll(Buffer.alloc(70 * MIB, 3))
    expect(used()).toBe(0)
  })
})
