import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { traitsOf } from '../domain/content-traits.ts'
import { type BlobStore, openBlobStore, type StagedBlob, type StoredBlob } from './blob-store.ts'
import { chunked, collect, failureOf, randomBytes } from './chunks.fixture.ts'

const MIB = 1024 * 1024
const hashOf = (bytes: Uint8Array) => Bun.SHA256.hash(bytes, 'hex')

let dataDir: string
let store: BlobStore
/** Stands for the committed rows of the database. */
let rows: Map<string, StoredBlob>
let ids: number

const stateOf = (sha256: string) => (rows.has(sha256) ? 'stored' : 'absent')
const newId = () => `id-${++ids}`
const commit = (blobs: StoredBlob[]) => {
  for (const blob of blobs) if (!rows.has(blob.sha256)) rows.set(blob.sha256, blob)
}
const rowOf = (bytes: Uint8Array): StoredBlob => {
  const row = rows.get(hashOf(bytes))
  if (row === undefined) throw new Error('There is no such row')
  return row
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-blobs-'))
  rows = new Map()
  ids = 0
  store = await openBlobStore(dataDir, newId)
})

afterEach(() => {
  store.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** Every file below the data directory, without folders. */
function filesOnDisk(): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .sort()
}

/** Stages, seals and commits these contents. */
async function storeAll(...contents: Uint8Array[]): Promise<StagedBlob[]> {
  const stage = store.stage(stateOf)
  for (const content of contents) await stage.add(content)
  const blobs = await stage.seal()
  commit(blobs)
  stage.release()
  return blobs
}

const small = Buffer.from('<h1>Hello</h1>')
const other = Buffer.from('body { color: teal }')
const large = randomBytes(MIB + 1, 1)

describe('storing', () => {
  test('puts small contents into one pack and large ones into files of their own', async () => {
    const blobs = await storeAll(small, large, other)
    const pack = blobs[0]?.pack ?? ''
    const about = (content: Uint8Array) => ({
      sha256: hashOf(content),
      sizeBytes: content.length,
      traits: traitsOf(content),
      object: null,
    })
    expect(blobs).toEqual([
      { ...about(small), pack, offset: 0 },
      { ...about(large), pack: null, offset: 0 },
      { ...about(other), pack, offset: small.length },
    ])
    const sha256 = hashOf(large)
    expect(filesOnDisk()).toEqual([`blobs/files/${sha256.slice(0, 2)}/${sha256}`, `blobs/packs/${pack}.pack`])
  })

  test.each([0, 1, 65_536, MIB - 1, MIB, MIB + 1, 3 * MIB + 5])(
    'returns %p bytes, streamed or whole',
    async (length) => {
      const content = randomBytes(length, length)
      const stage = store.stage(stateOf)
      const streamed = await stage.add(chunked(content, 40_000))
      expect(streamed).toEqual({ sha256: hashOf(content), sizeBytes: length })
      expect(await stage.add(content)).toEqual(streamed)
      const [blob, ...more] = await stage.seal()
      expect(more).toEqual([])
      expect(blob?.pack === null).toBe(length > MIB)
      if (blob === undefined) throw new Error('Nothing was stored')
      expect(Buffer.from(store.readSync(blob)).equals(content)).toBe(true)
      expect(Buffer.from((await store.file(blob)?.bytes()) ?? []).equals(content)).toBe(true)
      expect(await store.verify(blob)).toBe(true)
    },
  )

  test('packs thousands of contents, over many buffers', async () => {
    const contents = Array.from({ length: 3000 }, (_, index) => randomBytes(1 + (index % 1500), index))
    const blobs = await storeAll(...contents)
    expect(new Set(blobs.map((blob) => blob.pack)).size).toBe(1)
    for (const content of contents)
      expect(Buffer.from(store.readSync(rowOf(content))).equals(content)).toBe(true)
  })

  test('takes a copy: the caller may use its array again', async () => {
    const content = Buffer.from('first')
    const stage = store.stage(stateOf)
    await stage.add(content)
    content.write('later')
    const [blob] = await stage.seal()
    expect(blob && Buffer.from(store.readSync(blob)).toString()).toBe('first')
  })

  test('reads ranges of packed and large contents as streams', async () => {
    await storeAll(small, other, large)
    expect(await store.file(rowOf(other))?.slice(7, 12).text()).toBe('color')
    const part = await new Response(store.file(rowOf(large))?.slice(1000, 2000).stream()).bytes()
    expect(Buffer.from(part).equals(large.slice(1000, 2000))).toBe(true)
  })

  test('can read from more packs than stay open', async () => {
    const contents = Array.from({ length: 70 }, (_, index) => Buffer.from(`pack ${index}`))
    for (const content of contents) await storeAll(content)
    for (const content of [...contents, ...contents])
      expect(Buffer.from(store.readSync(rowOf(content))).equals(content)).toBe(true)
  })

  test('does not write stored contents again', async () => {
    await storeAll(small, large)
    const before = filesOnDisk()
    expect(await storeAll(small, large)).toEqual([])
    expect(filesOnDisk()).toEqual(before)
  })

  test('an empty stage leaves no file', async () => {
    expect(await storeAll()).toEqual([])
    expect(filesOnDisk()).toEqual([])
  })
})

describe('refused contents', () => {
  test.each([
    ['small', 100, 99],
    ['large', 2 * MIB, 2 * MIB - 1],
  ])('a %s one over the limit keeps nothing, and the stage stays usable', async (_, length, limit) => {
    const content = randomBytes(length, 1)
    const stage = store.stage(stateOf)
    for (const body of [content, chunked(content, 30_000)])
      expect(await failureOf(stage.add(body, limit))).toMatchObject({ kind: 'too_large' })
    expect(await stage.add(content, length)).toMatchObject({ sizeBytes: length })
    expect((await stage.seal()).length).toBe(1)
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
  })

  test.each([
    ['small', small],
    ['large', large],
  ])('a %s one that is not what its hash promised is not kept', async (_, content) => {
    const stage = store.stage(stateOf)
    const failure = await failureOf(stage.add(chunked(content, 5000), undefined, hashOf(other)))
    expect(failure).toMatchObject({ kind: 'invalid' })
    await stage.add(other, undefined, hashOf(other))
    expect((await stage.seal()).map((blob) => blob.sha256)).toEqual([hashOf(other)])
  })

  test.each([
    ['small', 10],
    ['large', 2 * MIB],
  ])('a %s one that ends early leaves the earlier contents intact', async (_, length) => {
    async function* broken() {
      yield randomBytes(length, 3)
      throw new Error('gone')
    }
    const stage = store.stage(stateOf)
    await stage.add(small)
    expect((await failureOf(stage.add(broken()))).message).toBe('gone')
    await stage.add(other)
    commit(await stage.seal())
    stage.release()
    expect([...rows.keys()]).toEqual([hashOf(small), hashOf(other)])
    expect(Buffer.from(store.readSync(rowOf(other))).equals(other)).toBe(true)
    expect(filesOnDisk().length).toBe(1)
  })
})

describe('discard', () => {
  test.each(['before', 'after'])('%s the seal removes everything, any number of times', async (when) => {
    const stage = store.stage(stateOf)
    await stage.add(small)
    await stage.add(large)
    if (when === 'after') await stage.seal()
    await stage.discard()
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
    expect(store.isPinned(hashOf(small))).toBe(false)
    expect(store.isPinned(hashOf(large))).toBe(false)
  })

  test('after release does nothing', async () => {
    const stage = store.stage(stateOf)
    await stage.add(small)
    await stage.add(large)
    commit(await stage.seal())
    stage.release()
    await stage.discard()
    expect(Buffer.from(store.readSync(rowOf(large))).equals(large)).toBe(true)
    expect(Buffer.from(store.readSync(rowOf(small))).equals(small)).toBe(true)
  })

  test('removes nothing that was stored before', async () => {
    await storeAll(small, large)
    const stage = store.stage(stateOf)
    await stage.add(small)
    await stage.add(large)
    await stage.seal()
    await stage.discard()
    expect(await store.verify(rowOf(small))).toBe(true)
    expect(await store.verify(rowOf(large))).toBe(true)
  })
})

describe('two uploads of the same contents at once', () => {
  type Step = 'seal' | 'commit' | 'discard'
  /** Which stage does what after both have added the same contents, and whether the contents must exist in the end. */
  const orders: [steps: [stage: 0 | 1, step: Step][], isKept: boolean][] = [
    [
      [
        [0, 'seal'],
        [1, 'seal'],
        [0, 'commit'],
        [1, 'commit'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [1, 'seal'],
        [1, 'commit'],
        [0, 'discard'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [1, 'seal'],
        [0, 'commit'],
        [1, 'discard'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [1, 'seal'],
        [0, 'discard'],
        [1, 'commit'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [0, 'discard'],
        [1, 'seal'],
        [1, 'commit'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [0, 'commit'],
        [1, 'seal'],
        [1, 'discard'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [0, 'commit'],
        [1, 'discard'],
      ],
      true,
    ],
    [
      [
        [0, 'discard'],
        [1, 'seal'],
        [1, 'commit'],
      ],
      true,
    ],
    [
      [
        [0, 'seal'],
        [1, 'seal'],
        [0, 'discard'],
        [1, 'discard'],
      ],
      false,
    ],
    [
      [
        [0, 'seal'],
        [0, 'discard'],
        [1, 'discard'],
      ],
      false,
    ],
    [
      [
        [0, 'discard'],
        [1, 'seal'],
        [1, 'discard'],
      ],
      false,
    ],
  ]

  test.each(orders)('%j keeps them: %p', async (steps, isKept) => {
    const stages = [store.stage(stateOf), store.stage(stateOf)] as const
    for (const stage of stages) {
      await stage.add(small)
      await stage.add(large)
    }
    const sealed: StoredBlob[][] = [[], []]
    for (const [index, step] of steps) {
      const stage = stages[index]
      if (step === 'seal') sealed[index] = await stage.seal()
      else if (step === 'discard') await stage.discard()
      else {
        commit(sealed[index] ?? [])
        stage.release()
      }
    }
    expect(store.isPinned(hashOf(large))).toBe(false)
    if (!isKept) return expect(filesOnDisk()).toEqual([])
    for (const content of [small, large]) expect(await store.verify(rowOf(content))).toBe(true)
    return undefined
  })

  test('concurrent seals and discards lose nothing that was committed', async () => {
    const stages = Array.from({ length: 8 }, () => store.stage(stateOf))
    await Promise.all(stages.map((stage) => stage.add(chunked(large, 100_000))))
    await Promise.all(
      stages.map(async (stage, index) => {
        const blobs = await stage.seal()
        if (index !== 3) return stage.discard()
        commit(blobs)
        return stage.release()
      }),
    )
    expect(await store.verify(rowOf(large))).toBe(true)
    expect(filesOnDisk().length).toBe(1)
  })
})

describe('the garbage collector', () => {
  test('removes files and packs', async () => {
    const [packed] = await storeAll(small, large)
    store.readSync(rowOf(small))
    await store.removeFiles([hashOf(large), hashOf(other)])
    await store.removePack(packed?.pack ?? '')
    expect(filesOnDisk()).toEqual([])
    expect(() => store.readSync(rowOf(small))).toThrow()
    expect(await store.verify(rowOf(large))).toBe(false)
  })

  test('sees the contents that an upload relies on, until it ends', async () => {
    await storeAll(large)
    for (const end of ['release', 'discard'] as const) {
      const stage = store.stage(stateOf)
      await stage.add(large)
      expect(store.isPinned(hashOf(large))).toBe(true)
      await stage.seal()
      expect(store.isPinned(hashOf(large))).toBe(true)
      await stage[end]()
      expect(store.isPinned(hashOf(large))).toBe(false)
    }
  })

  test('keeps a file that an upload has stored again since its row was deleted', async () => {
    await storeAll(large)
    rows.clear()
    const stage = store.stage(stateOf)
    await stage.add(large)
    const blobs = await stage.seal()
    await store.removeFiles([hashOf(large)])
    commit(blobs)
    stage.release()
    expect(await store.verify(rowOf(large))).toBe(true)
  })

  test('a file that it kept for an upload is removed when that upload fails', async () => {
    await storeAll(large)
    rows.clear()
    const stage = store.stage(stateOf)
    await stage.add(large)
    await store.removeFiles([hashOf(large)])
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
  })

  test('rewrites a pack with only its live contents', async () => {
    const contents = Array.from({ length: 10 }, (_, index) => randomBytes(200_000, index))
    const [first] = await storeAll(...contents)
    const pack = first?.pack ?? ''
    const kept = contents.filter((_, index) => index % 3 === 0)
    const moved = await store.rewritePack(pack, kept.map(rowOf))
    await store.removePack(pack)
    rows = new Map(moved.map((blob) => [blob.sha256, blob]))
    expect(filesOnDisk()).toEqual([`blobs/packs/${moved[0]?.pack}.pack`])
    expect(moved.map((blob) => blob.offset)).toEqual([0, 200_000, 400_000, 600_000])
    for (const content of kept) expect(Buffer.from(store.readSync(rowOf(content))).equals(content)).toBe(true)
  })

  test('does not copy damaged bytes into a new pack', async () => {
    const [blob] = await storeAll(small)
    writeFileSync(join(dataDir, `blobs/packs/${blob?.pack}.pack`), Buffer.alloc(small.length))
    expect((await failureOf(store.rewritePack(blob?.pack ?? '', [rowOf(small)]))).message).toContain(
      'is damaged',
    )
    expect(filesOnDisk()).toEqual([`blobs/packs/${blob?.pack}.pack`])
  })
})

describe('sweep', () => {
  const isKnown = (name: { pack: string } | { sha256: string }) =>
    'sha256' in name ? rows.has(name.sha256) : [...rows.values()].some((row) => row.pack === name.pack)

  test('removes leftovers of a crash, and nothing else', async () => {
    await storeAll(small, large)
    const kept = filesOnDisk()
    const lost = store.stage(stateOf)
    await lost.add(randomBytes(10, 8))
    await lost.add(randomBytes(2 * MIB, 9))
    await lost.seal()
    const unsealed = store.stage(stateOf)
    await unsealed.add(randomBytes(2 * MIB, 10))
    writeFileSync(join(dataDir, 'tmp/restore.db'), 'not ours')
    expect(filesOnDisk().length).toBe(kept.length + 4)

    const restarted = await openBlobStore(dataDir, newId)
    expect(await restarted.sweep(isKnown)).toBe(3)
    expect(filesOnDisk()).toEqual([...kept, 'tmp/restore.db'].sort())
    restarted.close()
  })

  test('keeps the files of running uploads', async () => {
    const stage = store.stage(stateOf)
    await stage.add(small)
    await stage.add(large)
    expect(await store.sweep(isKnown)).toBe(0)
    const blobs = await stage.seal()
    expect(await store.sweep(isKnown)).toBe(0)
    commit(blobs)
    stage.release()
    expect(await store.verify(rowOf(small))).toBe(true)
    expect(await store.verify(rowOf(large))).toBe(true)
  })
})

test('the name of a removed pack is not used again', async () => {
  const [packed] = await storeAll(small)
  const given = store.stage(stateOf)
  await given.add(randomBytes(10, 11))
  await given.seal()
  const before = filesOnDisk().filter((name) => name.endsWith('.pack'))
  await given.discard()
  await store.removePack(packed?.pack ?? '')
  rows.clear()
  for (const name of before) writeFileSync(join(dataDir, name), 'left')
  expect(before).toHaveLength(2)
  expect(await store.sweep(() => false)).toBe(2)
})

describe('verify', () => {
  const damages: [string, (bytes: Buffer) => Uint8Array][] = [
    ['a changed byte', (bytes) => bytes.fill(bytes.readUInt8(5) ^ 1, 5, 6)],
    ['a missing end', (bytes) => bytes.subarray(0, -1)],
  ]
  test.each(damages)('finds %s', async (_, damage) => {
    const [packed] = await storeAll(small, large)
    const sha256 = hashOf(large)
    writeFileSync(join(dataDir, `blobs/packs/${packed?.pack}.pack`), damage(Buffer.from(small)))
    writeFileSync(join(dataDir, `blobs/files/${sha256.slice(0, 2)}/${sha256}`), damage(Buffer.from(large)))
    expect(await store.verify(rowOf(small))).toBe(false)
    expect(await store.verify(rowOf(large))).toBe(false)
  })

  test('finds a file that grew', async () => {
    await storeAll(large)
    const sha256 = hashOf(large)
    writeFileSync(join(dataDir, `blobs/files/${sha256.slice(0, 2)}/${sha256}`), Buffer.concat([large, small]))
    expect(await store.verify(rowOf(large))).toBe(false)
  })
})

describe('a full disk', () => {
  /** Makes the next temporary file with this id fail for lack of space. */
  const fill = (id: number) => symlinkSync('/dev/full', join(dataDir, `tmp/blob-id-${id}`))

  test('while a pack is written', async () => {
    fill(2) // the pack's own id is the first
    const stage = store.stage(stateOf)
    await stage.add(small)
    expect(await failureOf(stage.seal())).toMatchObject({ kind: 'storage_full', status: 507 })
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
  })

  test('during thousands of contents: the upload ends before it has read them all', async () => {
    fill(2)
    const stage = store.stage(stateOf)
    const addAll = async () => {
      for (let seed = 0; seed < 100; seed++) await stage.add(randomBytes(100_000, seed))
    }
    expect(await failureOf(addAll())).toMatchObject({ kind: 'storage_full' })
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
  })

  test('while a large content is written', async () => {
    fill(1)
    const stage = store.stage(stateOf)
    expect(await failureOf(stage.add(randomBytes(5 * MIB, 1)))).toMatchObject({ kind: 'storage_full' })
    await stage.add(small)
    commit(await stage.seal())
    stage.release()
    expect(await store.verify(rowOf(small))).toBe(true)
    expect(filesOnDisk().length).toBe(1)
  })

  test('while a content just too large for a pack is written', async () => {
    fill(1)
    const stage = store.stage(stateOf)
    const writing = stage.add(large).then(() => stage.seal())
    expect(await failureOf(writing)).toMatchObject({ kind: 'storage_full' })
    await stage.discard()
    expect(filesOnDisk()).toEqual([])
  })

  test('while a body is spooled, and at the health check', async () => {
    fill(1)
    const body = chunked(large, 100_000)
    expect(await failureOf(store.spool(body, 2 * MIB, 'The archive'))).toMatchObject({ kind: 'storage_full' })
    fill(2)
    expect(await failureOf(store.probe())).toMatchObject({ kind: 'storage_full' })
    expect(filesOnDisk()).toEqual([])
  })
})

test('spools a body into a file that can be removed', async () => {
  const spooled = await store.spool(chunked(large, 100_000), large.length, 'The archive')
  expect(spooled.sizeBytes).toBe(large.length)
  expect(Buffer.from(await collect(await Bun.file(spooled.path).bytes())).equals(large)).toBe(true)
  await spooled.remove()
  expect(filesOnDisk()).toEqual([])
  const failure = await failureOf(store.spool(chunked(large, 100_000), MIB, 'The archive'))
  expect(failure).toMatchObject({
    kind: 'too_large',
    message: `The archive is larger than the ${MIB} bytes allowed`,
  })
  expect(filesOnDisk()).toEqual([])
})

test('the health check leaves nothing, and fails where nothing can be written', async () => {
  await store.probe()
  expect(filesOnDisk()).toEqual([])
  rmSync(join(dataDir, 'tmp'), { recursive: true })
  expect(await failureOf(store.probe())).toMatchObject({ code: 'ENOENT' })
})

test('opens again what was stored before', async () => {
  await storeAll(small, large)
  store.close()
  store = await openBlobStore(dataDir, newId)
  expect(existsSync(join(dataDir, 'tmp'))).toBe(true)
  expect(Buffer.from(store.readSync(rowOf(small))).equals(small)).toBe(true)
  expect(Buffer.from(store.readSync(rowOf(large))).equals(large)).toBe(true)
})
