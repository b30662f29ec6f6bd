import { describe, expect, test } from 'bun:test'
import { Crc64 } from './crc64.ts'
import { LtxDecoder } from './decode.ts'
import { encodeLtx } from './encode.ts'
import { checkPageNumber, LtxError, type LtxHeader, lockPage } from './format.ts'
import { literalHead, readBlock } from './lz4.ts'

const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(/\s/g, ''), 'hex'))

/** Reads a file given in pieces of `piece` bytes. */
function decode(file: Uint8Array, piece = file.length) {
  const pages: { number: number; data: Uint8Array<ArrayBuffer> }[] = []
  let header: LtxHeader | undefined
  const decoder = new LtxDecoder({
    header: (value) => {
      header = value
    },
    page: ({ number, data }) => pages.push({ number, data: Uint8Array.from(data) }),
  })
  for (let at = 0; at < file.length; at += piece) decoder.push(file.subarray(at, at + piece))
  decoder.end()
  return { header, pages }
}

/** What it holds, as one text. Some bits of a block mean nothing. */
function readOrRefused(file: Uint8Array): string {
  try {
    return JSON.stringify(decode(file))
  } catch (error) {
    if (error instanceof LtxError) return 'refused'
    throw error
  }
}

const filled = (number: number, size = 512) => ({
  number,
  data: Uint8Array.from({ length: size }, (_, at) => (at * 7 + number) & 255),
})

const batch: LtxHeader = { pageSize: 512, commit: 9, first: 5, last: 5, timestamp: 1_700_000_000_000 }
const snapshot: LtxHeader = { ...batch, commit: 3, first: 1 }

describe('the checksum', () => {
  test.each([
    ['', 0n],
    ['123456789', 0xb90956c775a41001n],
  ])('of %p', (text, value) => {
    const crc = new Crc64()
    crc.update(Buffer.from(text))
    expect(crc.value).toBe(value)
  })

  test('does not depend on how the bytes come', () => {
    const bytes = filled(1, 1000).data
    const whole = new Crc64()
    whole.update(bytes)
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const pieces = new Crc64()
      for (let at = 0; at < bytes.length; at += size) pieces.update(bytes.subarray(at, at + size))
      expect(pieces.value).toBe(whole.value)
    }
  })
})

describe('a block', () => {
  test.each([1, 14, 15, 16, 269, 270, 271, 512, 4096, 65_536])('of %p bytes comes back', (size) => {
    const { data } = filled(3, size)
    const out = new Uint8Array(size)
    expect(readBlock(Buffer.concat([literalHead(size), data]), out)).toBe(size)
    expect(out).toEqual(data)
  })

  test('with matches that overlap what they make is read as the format says', () => {
    const out = new Uint8Array(32)
    // "ab", 14 bytes more of it from two bytes back, then "end".
    expect(readBlock(bytesOf('2a 6162 0200 30 656e64'), out)).toBe(19)
    expect(Buffer.from(out.subarray(0, 19)).toString()).toBe('ababababababababend')
  })

  test.each([
    ['nothing', ''],
    ['literals that are cut off', '50 6162'],
    ['a length that is cut off', 'f0 ff'],
    ['a match from before the beginning', '1f 61 0500 00'],
    ['a match from nowhere', '1f 61 0000 00'],
    ['more than there is room for', '1f 61 0100 ff ff 00'],
  ])('with %s is refused', (_, hex) => {
    expect(() => readBlock(bytesOf(hex), new Uint8Array(64))).toThrow()
  })
})

describe('a file', () => {
  test('comes back, however it is cut', () => {
    const pages = [filled(2), filled(3), filled(9)]
    const file = encodeLtx(batch, pages)
    for (const piece of [1, 7, 100, 511, file.length])
      expect(decode(file, piece)).toEqual({ header: batch, pages })
  })

  test('of a whole database goes on behind the page that SQLite locks', () => {
    const header = { ...snapshot, pageSize: 65_536, commit: 20_000 }
    const lock = lockPage(header.pageSize)
    expect(lock).toBe(16_385)
    expect(() => checkPageNumber(header, lock + 1, lock - 1)).not.toThrow()
    expect(() => checkPageNumber(header, lock, lock - 1)).toThrow('the one that SQLite locks')
    expect(() => checkPageNumber(header, lock + 2, lock - 1)).toThrow('out of order')
  })

  test('of no page is one whose transactions changed nothing', () => {
    expect(decode(encodeLtx({ ...batch, commit: 0 }, []))).toEqual({
      header: { ...batch, commit: 0 },
      pages: [],
    })
  })

  test('of which a byte is changed is refused or reads the same, and one that is cut off is refused', () => {
    const file = encodeLtx(batch, [filled(2), filled(9)])
    const read = readOrRefused(file)
    for (let at = 0; at < file.length; at += 1) {
      const changed = Uint8Array.from(file)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(readOrRefused(changed)).toBeOneOf(['refused', read])
      expect(() => decode(file.subarray(0, at))).toThrow(LtxError)
    }
  })

  test('is refused with something behind it', () => {
    expect(() => decode(Buffer.concat([encodeLtx(batch, [filled(2)]), Uint8Array.of(0)]))).toThrow(
      'Something follows its end',
    )
  })

  test.each([
    ['pages in another order', batch, [filled(3), filled(2)]],
    ['a page twice', batch, [filled(3), filled(3)]],
    ['a page beyond the end', batch, [filled(10)]],
    ['a whole database that begins late', snapshot, [filled(2), filled(3)]],
    ['a whole database with a gap', snapshot, [filled(1), filled(3)]],
  ])('with %s is not written', (_, header, pages) => {
    expect(() => encodeLtx(header, pages)).toThrow(LtxError)
  })

  test('of a whole database that ends early is refused', () => {
    expect(() => decode(encodeLtx(snapshot, [filled(1), filled(2)]))).toThrow('It ends at page 2 of 3')
  })

  test.each([
    ['another magic', 0, 0x4d],
    ['unknown flags', 7, 0xff],
    ['a size of pages that there is not', 10, 0x03],
    ['a number beyond 2^53', 24, 0xff],
  ])('with %s is refused', (_, at, value) => {
    const file = encodeLtx(batch, [filled(2)])
    file[at] = value
    expect(() => decode(file)).toThrow(LtxError)
  })
})

/** A page as `lz4` 1.10 compresses it: a frame of one block with matches, and a checksum. */
const FRAME = bytesOf(`
  04224d186440a7e7000000cf73716c6974652070616765200c00ff0ef0c5f23d88d4206cb805529fec3a88d62473c211
  60b00050a0f14293e43688da2c7fd22578cc2074c81d72c71c72c81e74cb2279d02880d83089e23b94ee48a2fc57b20d
  68c4207cd83592ef4caa0866c42382e140a00060c02182e344a6086acc2f92f558bc2084e84db2177ce248ae147be249
  b01880e850b9228bf45ec8329c0772dd48b4208cf865d23fac1a88f664d342b120900070e051c233a41688fa6cdf52c5
  38ac2094087df267dc52c83eb42ba219900880f870e962db54ce48c23cb732ad28a4209c1895128f0c8a088604830281
  008000000000fdd91eb2
`)
const FRAME_HEADER = 11
const compressed = FRAME.subarray(FRAME_HEADER, -8)
const original = Uint8Array.from({ length: 512 }, (_, at) =>
  at < 300 ? 'sqlite page '.charCodeAt(at % 12) : ((at * at) >> 3) & 255,
)

/** The same file as of ours, but for the frame of its only page. */
function fileWith(frame: Uint8Array, hashed: Uint8Array): Uint8Array {
  const ours = encodeLtx(batch, [{ number: 2, data: original }])
  const head = ours.subarray(0, 100)
  const index = Uint8Array.of(
    2,
    100,
    ...(frame.length < 128 ? [frame.length] : [(frame.length % 128) | 128, frame.length >> 7]),
    0,
  )
  const rest = Buffer.concat([
    new Uint8Array(6),
    index,
    Uint8Array.of(0, 0, 0, 0, 0, 0, 0, index.length),
    new Uint8Array(8),
  ])
  const crc = new Crc64()
  for (const part of [head, hashed, original, rest]) crc.update(part)
  const checksum = Buffer.alloc(8)
  checksum.writeBigUInt64BE(crc.value | (1n << 63n))
  return Buffer.concat([head, frame, rest, checksum])
}

describe('a page that another program compressed', () => {
  const sized = Buffer.concat([bytesOf('00000002 0001 000000'), Uint8Array.of(compressed.length)])
  const unsized = bytesOf('00000002 0000')

  test.each([
    ['as a block', fileWith(Buffer.concat([sized, compressed]), sized)],
    ['as a frame, as older files have it', fileWith(Buffer.concat([unsized, FRAME]), unsized)],
  ])('%s is read, however it is cut', (_, file) => {
    for (const piece of [1, 50, file.length])
      expect(decode(file, piece).pages).toEqual([{ number: 2, data: original }])
  })

  test('is refused where it says that it is larger than a page can be', () => {
    const large = Buffer.concat([bytesOf('00000002 0001 fffffff0'), compressed])
    expect(() => decode(fileWith(large, sized))).toThrow('A page is larger than a page can be')
  })
})
