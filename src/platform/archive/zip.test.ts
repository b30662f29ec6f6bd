import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, deflateRawSync } from 'node:zlib'
import { collect, failureOf, randomBytes } from '../chunks.fixture.ts'
import type { ArchiveLimits } from './entry.ts'
import { readZip } from './zip.ts'

const LIMITS: ArchiveLimits = { maxFiles: 1000, maxBytes: 100_000_000 }

/** What a hostile archive may claim about an entry. The rest follows from the content. */
type Entry = {
  name: string | Uint8Array
  body?: string | Uint8Array
  method?: number
  flags?: number
  mode?: number
  sizeBytes?: number
  packedBytes?: number
  crc32?: number
  packed?: Uint8Array
  extra?: Uint8Array
  /** Where the directory says the entry is, if not at its real position. */
  headerAt?: number
  /** Stores sizes and position in a zip64 field. */
  isZip64?: boolean
}

function numbers(...fields: [value: number | bigint, bytes: 2 | 4 | 8][]): Buffer {
  const size = fields.reduce((sum, [, bytes]) => sum + bytes, 0)
  const buffer = Buffer.alloc(size)
  let at = 0
  for (const [value, bytes] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), at)
    else buffer.writeUIntLE(Number(value), at, bytes)
    at += bytes
  }
  return buffer
}

/** The bytes of an entry and its record in the directory. */
function parts(entry: Entry, at: number): { local: Buffer; central: Buffer } {
  const name = Buffer.from(entry.name)
  const content = Buffer.from(entry.body ?? '')
  const method = entry.method ?? 8
  const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content)
  const sizeBytes = entry.sizeBytes ?? content.length
  const packedBytes = entry.packedBytes ?? packed.length
  const sum = entry.crc32 ?? crc32(content)
  const headerAt = entry.headerAt ?? at
  const full = 0xffffffff
  const field = numbers([1, 2], [24, 2], [sizeBytes, 8], [packedBytes, 8], [headerAt, 8])
  const extra = entry.isZip64 ? field : Buffer.from(entry.extra ?? [])
  const [size, packedSize, place] = entry.isZip64 ? [full, full, full] : [sizeBytes, packedBytes, headerAt]
  const common = numbers(
    [20, 2],
    [entry.flags ?? 0, 2],
    [method, 2],
    [0, 4],
    [sum, 4],
    [packedSize, 4],
    [size, 4],
    [name.length, 2],
  )
  const local = Buffer.concat([numbers([0x04034b50, 4]), common, numbers([0, 2]), name, packed])
  const mode = ((entry.mode ?? 0o100644) << 16) >>> 0
  const rest = numbers([extra.length, 2], [0, 2], [0, 2], [0, 2], [mode, 4], [place, 4])
  return { local, central: Buffer.concat([numbers([0x02014b50, 4], [0x031e, 2]), common, rest, name, extra]) }
}

type Frame = { comment?: string; isZip64?: boolean; entryCount?: number; disk?: number; before?: Uint8Array }

function zip(entries: Entry[], frame: Frame = {}): Buffer {
  const locals: Uint8Array[] = [frame.before ?? Buffer.alloc(0)]
  const records: Uint8Array[] = []
  let at = locals[0]?.length ?? 0
  for (const entry of entries) {
    const { local, central } = parts(entry, at)
    locals.push(local)
    records.push(central)
    at += local.length
  }
  const directory = Buffer.concat(records)
  const count = frame.entryCount ?? entries.length
  const comment = Buffer.from(frame.comment ?? '')
  const end64 = Buffer.concat([
    numbers([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [count, 8], [count, 8]),
    numbers([directory.length, 8], [at, 8]),
    numbers([0x07064b50, 4], [0, 4], [at + directory.length, 8], [1, 4]),
  ])
  const disk = frame.disk ?? 0
  const end = frame.isZip64
    ? numbers(
        [0x06054b50, 4],
        [0, 2],
        [0, 2],
        [0xffff, 2],
        [0xffff, 2],
        [0xffffffff, 4],
        [0xffffffff, 4],
        [comment.length, 2],
      )
    : numbers(
        [0x06054b50, 4],
        [disk, 2],
        [disk, 2],
        [count, 2],
        [count, 2],
        [directory.length, 4],
        [at, 4],
        [comment.length, 2],
      )
  return Buffer.concat([...locals, directory, frame.isZip64 ? end64 : Buffer.alloc(0), end, comment])
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-zip-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function spooled(bytes: Uint8Array): Promise<string> {
  const path = join(folder, 'archive.zip')
  await Bun.write(path, bytes)
  return path
}

async function unpack(bytes: Uint8Array, limits = LIMITS): Promise<[path: string, body: string][]> {
  const files: [string, string][] = []
  for await (const { path, sizeBytes, body } of readZip(await spooled(bytes), limits)) {
    const content = await collect(body)
    expect(content.length).toBe(sizeBytes)
    files.push([path, Buffer.from(content).toString('latin1')])
  }
  return files
}

/** The field in which Info-ZIP stores a UTF-8 name beside one in another encoding. */
function unicodePath(name: string, beside: string | Uint8Array): Buffer {
  const bytes = Buffer.from(name)
  return Buffer.concat([
    numbers([0x7075, 2], [5 + bytes.length, 2]),
    Buffer.from([1]),
    numbers([crc32(Buffer.from(beside)), 4]),
    bytes,
  ])
}

describe('the features of the format', () => {
  const large = randomBytes(2_500_000, 1)
  const big = Buffer.alloc(3_000_000, 'svc ')
  const cases: [what: string, bytes: Uint8Array, expected: [string, string][]][] = [
    ['an archive without entries', zip([]), []],
    [
      'stored and deflated',
      zip([
        { name: 'a', body: 'A', method: 0 },
        { name: 'b', body: 'B'.repeat(999) },
      ]),
      [
        ['a', 'A'],
        ['b', 'B'.repeat(999)],
      ],
    ],
    [
      'empty files',
      zip([{ name: 'a', method: 0 }, { name: 'b' }]),
      [
        ['a', ''],
        ['b', ''],
      ],
    ],
    [
      'folders',
      zip([
        { name: 'd/', method: 0 },
        { name: 'e', mode: 0o040755, method: 0 },
        { name: 'd/a', body: 'A' },
      ]),
      [['d/a', 'A']],
    ],
    ['no Unix mode', zip([{ name: 'a', body: 'A', mode: 0 }]), [['a', 'A']]],
    [
      'a comment',
      zip([{ name: 'a', body: 'A' }], { comment: 'built by PK\x05\x06 and more than 22 bytes' }),
      [['a', 'A']],
    ],
    [
      'something before the first entry',
      zip([{ name: 'a', body: 'A' }], { before: Buffer.from('#!/bin/sh\n') }),
      [['a', 'A']],
    ],
    [
      'zip64 sizes',
      zip([
        { name: 'a', body: 'A', isZip64: true },
        { name: 'b', body: 'B' },
      ]),
      [
        ['a', 'A'],
        ['b', 'B'],
      ],
    ],
    ['a zip64 end', zip([{ name: 'a', body: 'A' }], { isZip64: true }), [['a', 'A']]],
    [
      'large contents',
      zip([
        { name: 'a', body: large, method: 0 },
        { name: 'b', body: large },
        { name: 'c', body: big },
      ]),
      [
        ['a', Buffer.from(large).toString('latin1')],
        ['b', Buffer.from(large).toString('latin1')],
        ['c', big.toString('latin1')],
      ],
    ],
  ]

  test.each(cases)('%s', async (_, bytes, expected) => {
    expect(await unpack(bytes)).toEqual(expected)
  })

  test('entries that the directory lists in a different order', async () => {
    const first = parts({ name: 'a', body: 'A' }, 0)
    const second = parts({ name: 'b', body: 'B' }, first.local.length)
    const directory = Buffer.concat([second.central, first.central])
    const at = first.local.length + second.local.length
    const end = numbers([0x06054b50, 4], [0, 4], [2, 2], [2, 2], [directory.length, 4], [at, 4], [0, 2])
    expect(await unpack(Buffer.concat([first.local, second.local, directory, end]))).toEqual([
      ['a', 'A'],
      ['b', 'B'],
    ])
  })
})

describe('names', () => {
  const cases: [what: string, entry: Entry, expected: string][] = [
    ['UTF-8 by the flag', { name: 'größe.txt', flags: 0x800 }, 'größe.txt'],
    ['UTF-8 without the flag', { name: 'größe.txt' }, 'größe.txt'],
    ['CP437', { name: Buffer.from([0x67, 0x72, 0x94, 0xe1, 0x65, 0xff]) }, 'größe\u00a0'],
    ['a Unicode path beside another', { name: 'gr__e', extra: unicodePath('größe', 'gr__e') }, 'größe'],
    ['a Unicode path of an older name', { name: 'new', extra: unicodePath('größe', 'old') }, 'new'],
    ['a path out of the folder, for the caller to check', { name: '../../etc/passwd' }, '../../etc/passwd'],
    ['an absolute path', { name: '/etc/passwd' }, '/etc/passwd'],
    ['a path of Windows', { name: 'a\\..\\..\\b' }, 'a\\..\\..\\b'],
    ['a NUL', { name: 'a\0.html' }, 'a\0.html'],
  ]
  test.each(cases)('%s', async (_, entry, expected) => {
    expect(await unpack(zip([entry]))).toEqual([[expected, '']])
  })
})

describe('hostile and broken archives', () => {
  const bomb = deflateRawSync(Buffer.alloc(50_000_000))
  const local = parts({ name: 'a', body: 'AAAA' }, 0).local
  const cases: [what: string, bytes: Uint8Array, message: string][] = [
    [
      'a symbolic link',
      zip([{ name: 'evil', body: '/etc/passwd', mode: 0o120777 }]),
      '"evil" is a symbolic link',
    ],
    ['a device', zip([{ name: 'evil', mode: 0o020644 }]), '"evil" is neither a file nor a folder'],
    ['an encrypted entry', zip([{ name: 'evil', body: 'A', flags: 1 }]), '"evil" is encrypted'],
    ['a strongly encrypted entry', zip([{ name: 'evil', body: 'A', flags: 0x40 }]), '"evil" is encrypted'],
    ['an unknown method', zip([{ name: 'evil', body: 'A', method: 12 }]), '"evil" is packed by method 12'],
    ['a folder with bytes', zip([{ name: 'evil/', body: 'A' }]), '"evil/" is a folder with bytes'],
    ['a wrong checksum', zip([{ name: 'evil', body: 'A', crc32: 1 }]), '"evil" is damaged: its checksum'],
    [
      'a wrong checksum of a stored entry',
      zip([{ name: 'evil', body: 'A', method: 0, crc32: 1 }]),
      'checksum',
    ],
    [
      'a wrong checksum of a large entry',
      zip([{ name: 'evil', body: Buffer.alloc(2_000_000), crc32: 1 }]),
      'checksum',
    ],
    [
      'two sizes of a stored entry',
      zip([{ name: 'evil', body: 'AAAA', method: 0, sizeBytes: 2 }]),
      'contradict',
    ],
    [
      'less than declared',
      zip([{ name: 'evil', body: 'AAAA', sizeBytes: 5 }]),
      '"evil" does not have its declared size',
    ],
    [
      'more than declared',
      zip([{ name: 'evil', body: 'AAAA', sizeBytes: 3 }]),
      '"evil" is larger than declared',
    ],
    [
      'a bomb that claims to be small',
      zip([{ name: 'evil', packed: bomb, sizeBytes: 1000 }]),
      '"evil" is larger than declared',
    ],
    [
      'a large bomb that claims to be small',
      zip([{ name: 'evil', packed: bomb, sizeBytes: 5_000_000 }]),
      '"evil" is larger than declared',
    ],
    [
      'deflate data that is truncated',
      zip([{ name: 'evil', packed: bomb.subarray(0, 20_000), sizeBytes: 900 }]),
      '"evil" is',
    ],
    [
      'large deflate data that is truncated',
      zip([{ name: 'evil', packed: bomb.subarray(0, 20_000), sizeBytes: 50_000_000 }]),
      '"evil" is damaged',
    ],
    [
      'invalid deflate data',
      zip([{ name: 'evil', packed: Buffer.alloc(100, 0xff), sizeBytes: 100 }]),
      '"evil" is damaged',
    ],
    ['a name that is not UTF-8', zip([{ name: Buffer.from([0x61, 0xff]), flags: 0x800 }]), 'is not UTF-8'],
    ['an entry in a different place', zip([{ name: 'evil', body: 'A', headerAt: 3 }]), '"evil" is not where'],
    ['an entry beyond the end', zip([{ name: 'evil', body: 'A', headerAt: 9999 }]), 'ends too soon'],
    [
      'two entries with the same bytes',
      zip([
        { name: 'a', body: 'AAAA' },
        { name: 'evil', body: 'AAAA', headerAt: 0 },
      ]),
      'shares bytes',
    ],
    [
      'an entry that quotes the next one',
      zip([
        { name: 'evil', method: 0, packedBytes: local.length, sizeBytes: local.length },
        { name: 'a', body: 'AAAA' },
      ]),
      '"evil" shares bytes',
    ],
    [
      'an entry that reaches into the directory',
      zip([{ name: 'evil', method: 0, packedBytes: 20, sizeBytes: 20 }]),
      '"evil" shares bytes',
    ],
    ['more entries than there are', zip([{ name: 'a' }], { entryCount: 2 }), 'its directory cannot be read'],
    [
      'fewer entries than there are',
      zip([{ name: 'a' }, { name: 'b' }], { entryCount: 1 }),
      'its directory cannot be read',
    ],
    ['a part of several', zip([{ name: 'a' }], { disk: 1 }), 'split into several files'],
    [
      'something else',
      Buffer.from('this is no archive, but longer than the end of one'),
      'not a zip archive',
    ],
    ['nothing', new Uint8Array(), 'not a zip archive'],
  ]

  test.each(cases)('%s', async (_, bytes, message) => {
    const failure = await failureOf(unpack(bytes))
    expect(failure).toMatchObject({ kind: 'invalid' })
    expect(failure.message).toContain(message)
  })

  test('an archive that is truncated anywhere', async () => {
    const bytes = zip([
      { name: 'a', body: 'A'.repeat(100), method: 0 },
      { name: 'b', body: 'B' },
    ])
    for (let length = 0; length < bytes.length; length++)
      expect(await failureOf(unpack(bytes.subarray(0, length)))).toMatchObject({ kind: 'invalid' })
  })

  test('a changed byte anywhere is rejected or harmless, never a crash', async () => {
    const bytes = zip(
      [
        { name: 'a', body: 'A'.repeat(100) },
        { name: 'b', body: 'B', isZip64: true },
      ],
      { isZip64: true },
    )
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(changed.readUInt8(at) ^ 0xff, at)
      const outcome = await unpack(changed).catch((error) => error)
      if (outcome instanceof Error)
        expect(outcome).toHaveProperty('kind', expect.stringMatching(/^(invalid|too_large)$/))
    }
  })
})

describe('limits', () => {
  const bytes = zip([
    { name: 'd/', method: 0 },
    { name: 'a', body: 'AAA' },
    { name: 'b', body: 'BB' },
  ])

  test('are inclusive, and folders do not count as files', async () => {
    expect(await unpack(bytes, { maxFiles: 2, maxBytes: 5 })).toEqual([
      ['a', 'AAA'],
      ['b', 'BB'],
    ])
  })

  test.each([
    [{ maxFiles: 1, maxBytes: 5 }, 'more than the 1 files allowed'],
    [{ maxFiles: 2, maxBytes: 4 }, 'more than the 4 bytes allowed'],
  ])('%j', async (limits, message) => {
    const failure = await failureOf(unpack(bytes, limits))
    expect(failure).toMatchObject({ kind: 'too_large', message: expect.stringContaining(message) })
  })

  test('declared sizes over the limit are rejected before anything is unpacked', async () => {
    const bomb = zip([
      { name: 'first', body: 'A' },
      { name: 'bomb', sizeBytes: 2 ** 40, isZip64: true },
    ])
    const paths: string[] = []
    const read = async () => {
      for await (const { path } of readZip(await spooled(bomb), LIMITS)) paths.push(path)
    }
    expect(await failureOf(read())).toMatchObject({ kind: 'too_large' })
    expect(paths).toEqual([])
  })
})

test('an unread body is skipped', async () => {
  const bytes = zip([
    { name: 'a', body: randomBytes(2_000_000, 1) },
    { name: 'b', body: 'B' },
  ])
  const paths: string[] = []
  for await (const { path, body } of readZip(await spooled(bytes), LIMITS)) {
    paths.push(path)
    if (!(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().next()
  }
  expect(paths).toEqual(['a', 'b'])
})
