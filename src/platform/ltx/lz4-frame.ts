import { Lz4Error, readBlock } from './lz4.ts'

const MAGIC = 0x184d2204
const MIN_HEADER = 7
/** Of the flags byte: the version, and what the frame carries. */
const VERSION_MASK = 0xc0
const VERSION = 0x40
const HAS_BLOCK_CHECKSUM = 0x10
const HAS_CONTENT_SIZE = 0x08
const HAS_CONTENT_CHECKSUM = 0x04
const HAS_DICTIONARY = 0x01
const IS_STORED = 0x80000000

/**
 * Decompresses the LZ4 frame at the beginning of `bytes` into `out`. Returns how many bytes the frame takes and how many it
 * held, or null while `bytes` do not hold all of it. Its own checksums are not looked at: the file has one over the contents.
 */
export function readFrame(bytes: Uint8Array, out: Uint8Array): { taken: number; held: number } | null {
  if (bytes.length < MIN_HEADER) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0, true) !== MAGIC) throw new Lz4Error('The page is no LZ4 frame')
  const flags = view.getUint8(4)
  if ((flags & VERSION_MASK) !== VERSION) throw new Lz4Error('The LZ4 frame is of another version')
  if ((flags & HAS_DICTIONARY) !== 0) throw new Lz4Error('The LZ4 frame needs a dictionary')
  const blockChecksum = (flags & HAS_BLOCK_CHECKSUM) === 0 ? 0 : 4
  const contentChecksum = (flags & HAS_CONTENT_CHECKSUM) === 0 ? 0 : 4
  let at = MIN_HEADER + ((flags & HAS_CONTENT_SIZE) === 0 ? 0 : 8)
  let held = 0
  for (;;) {
    if (at + 4 > bytes.length) return null
    const word = view.getUint32(at, true)
    at += 4
    if (word === 0) break
    const size = word & ~IS_STORED
    if (size > out.length * 2 + 64) throw new Lz4Error('The LZ4 frame holds more than a page')
    if (at + size + blockChecksum > bytes.length) return null
    const block = bytes.subarray(at, at + size)
    held = word >>> 31 === 1 ? copyStored(block, out, held) : readBlock(block, out, held)
    at += size + blockChecksum
  }
  const taken = at + contentChecksum
  return taken > bytes.length ? null : { taken, held }
}

function copyStored(block: Uint8Array, out: Uint8Array, start: number): number {
  if (start + block.length > out.length) throw new Lz4Error('The LZ4 frame holds more than a page')
  out.set(block, start)
  return start + block.length
}
