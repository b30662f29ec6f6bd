import { expect, test } from 'bun:test'
import { zip } from '../../src/platform/archive/zip.fixture.ts'
import { rounds, seedOf } from '../../src/testing/rounds.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import publishing from './publishing.js' with { type: 'text' }

/** What the page of a publish reads of a chosen zip before a byte is sent. contract 17.3. */

type ZipPaths = (file: Blob) => Promise<string[] | undefined>
const zipPaths = new Function(`${publishing}\nreturn zipPaths`)() as ZipPaths

/** Names in a zip, and the paths that the server stores for them; null where it leaves them out. */
const NAMES: readonly [name: string, path: string | null][] = [
  ['index.html', 'index.html'],
  ['dist/index.html', 'dist/index.html'],
  ['dist\\windows.html', 'dist/windows.html'],
  ['./a//b/./c.txt', 'a/b/c.txt'],
  ['/', null],
  ['.', null],
  ['folder/', null],
  ['.git/HEAD', null],
  ['deep/.DS_Store', null],
  ['node_modules/a.js', null],
  ['__MACOSX/a', null],
  ['.well-known/security.txt', '.well-known/security.txt'],
  ['cafe\u0301.html', 'caf\u00e9.html'],
  ['\u{1f600} <b>"&.html', '\u{1f600} <b>"&.html'],
  ['\ufeffmark', '\ufeffmark'],
  ['PK\u0001\u0002', 'PK\u0001\u0002'],
  ['PK\u0005\u0006 end', 'PK\u0005\u0006 end'],
  ['x'.repeat(300), 'x'.repeat(300)],
]

type Made = { bytes: Buffer; paths: string[] }

test('random zips: whole ones give their paths, damaged ones never an error', async () => {
  const random = seededRandom(seedOf('zip-paths'))
  const below = (limit: number) => Math.floor(random() * limit)
  for (let round = 0; round < rounds(20_000, 1_000_000); round++) {
    const made = madeZip(below)
    const isWhole = round % 4 === 0
    const bytes = isWhole ? made.bytes : damaged(made.bytes, below)
    const found = await zipPaths(new Blob([Uint8Array.from(bytes)])).catch((error) => error)
    const isRight = isWhole ? Bun.deepEquals(found, made.paths) : isSane(found, bytes)
    if (!isRight) throw new Error(`${bytes.toString('base64')} gave ${found}, not ${made.paths}`)
  }
  expect(random()).toBeLessThan(1)
}, 1_800_000)

function madeZip(below: (limit: number) => number): Made {
  const chosen = Array.from({ length: below(6) }, () => NAMES[below(NAMES.length)] ?? ['a', 'a'])
  const packed = Buffer.from(zip(chosen.map(([name]): [string, string] => [name, ''])))
  // Self-extracting archives have a program before them, and some have a comment behind.
  const bytes =
    below(4) === 0 ? as64(packed) : Buffer.concat([Buffer.alloc(below(3) * 40, 'program '), packed])
  const paths = chosen.flatMap(([, path]) => path ?? [])
  return { bytes: below(4) === 0 ? withComment(bytes, below(200)) : bytes, paths }
}

function withComment(bytes: Buffer, length: number): Buffer {
  const commented = Buffer.concat([bytes, Buffer.alloc(length, 'c')])
  commented.writeUInt16LE(length, bytes.length - 2)
  return commented
}

/** With the end record of large archives, which the small one refers to. APPNOTE 6.3.10 §4.3.14 and §4.3.15. */
function as64(bytes: Buffer): Buffer {
  const end = Buffer.from(bytes.subarray(-22))
  const end64 = Buffer.alloc(56)
  end64.write('PK\u0006\u0006', 'latin1')
  end64.writeBigUInt64LE(BigInt(end.readUInt32LE(12)), 40)
  end64.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48)
  const locator = Buffer.alloc(20)
  locator.write('PK\u0006\u0007', 'latin1')
  locator.writeBigUInt64LE(BigInt(bytes.length - 22), 8)
  end.writeUInt32LE(0xffffffff, 12)
  return Buffer.concat([bytes.subarray(0, -22), end64, locator, end])
}

const EXTREMES = [0, 1, 22, 45, 46, 0xff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff]

function damaged(whole: Buffer, below: (limit: number) => number): Buffer {
  let bytes = Buffer.from(whole)
  for (let times = 1 + below(4); times > 0; times--) {
    const kind = below(5)
    // Most of what is read lies at the end.
    const at = Math.max(0, below(2) === 0 ? below(bytes.length) : bytes.length - 1 - below(120))
    if (kind === 0) bytes = bytes.subarray(0, at)
    else if (kind === 1) bytes = bytes.subarray(at)
    else if (kind === 2 && at + 4 <= bytes.length)
      bytes.writeUInt32LE(EXTREMES[below(EXTREMES.length)] ?? 0, at)
    else if (kind === 3) bytes = Buffer.concat([bytes.subarray(0, at), whole.subarray(below(whole.length))])
    else if (at < bytes.length) bytes.writeUInt8(below(256), at)
  }
  return bytes
}

/** What can be read of a damaged one is a list that pages can show, no longer than it can be. */
const isSane = (found: unknown, { length }: Buffer): boolean =>
  found === undefined ||
  (Array.isArray(found) &&
    found.length <= length / 46 &&
    found.every((path) => typeof path === 'string' && path !== '' && !path.endsWith('/')))

test.each([
  ['nothing', Buffer.alloc(0)],
  ['an end alone, without its beginning', Buffer.from(zip({ a: 'b' })).subarray(-10)],
  ['a name longer than the directory', longName()],
  ['a directory larger than the file', largeDirectory()],
  ['65,557 bytes without an end', Buffer.alloc(65_557, 'PK')],
])('%s cannot be read', async (_, bytes) => {
  expect(await zipPaths(new Blob([Uint8Array.from(bytes)]))).toBeUndefined()
})

function longName(): Buffer {
  const bytes = Buffer.from(zip({ a: 'b' }))
  bytes.writeUInt16LE(0xffff, bytes.lastIndexOf('PK\u0001\u0002') + 28)
  return bytes
}

function largeDirectory(): Buffer {
  const bytes = Buffer.from(zip({ a: 'b' }))
  bytes.writeUInt32LE(bytes.length, bytes.length - 10)
  return bytes
}
