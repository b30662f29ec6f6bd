/** LZ4 as LTX files have it: blocks, of which ours hold the page as it is, and the frames of older files. */

/** Why compressed bytes cannot be read. */
export class Lz4Error extends Error {
  override readonly name = 'Lz4Error'
}

/** The most bytes that a block of `size` bytes may take. */
export const blockBound = (size: number): number => size + Math.floor(size / 255) + 16

/** What stands before so many bytes in a block that holds them uncompressed: one run of literals. Any LZ4 reader takes it. */
export function literalHead(length: number): Uint8Array<ArrayBuffer> {
  if (length < 15) return Uint8Array.of(length << 4)
  const rest = length - 15
  const head = new Uint8Array(2 + Math.floor(rest / 255)).fill(255)
  head[0] = 15 << 4
  head[head.length - 1] = rest % 255
  return head
}

/** Decompresses a block into `out` from `start` on; earlier bytes of `out` may be referred to. Returns where it ends. */
export function readBlock(block: Uint8Array, out: Uint8Array, start = 0): number {
  let at = 0
  let end = start
  const next = (): number => {
    const byte = block[at]
    if (byte === undefined) throw new Lz4Error('The block is cut off')
    at += 1
    return byte
  }
  const length = (nibble: number): number => {
    let total = nibble
    for (let more = nibble === 15 ? 255 : 0; more === 255; total += more) more = next()
    return total
  }
  while (at < block.length) {
    const token = next()
    const literals = length(token >> 4)
    if (at + literals > block.length) throw new Lz4Error('The block is cut off')
    if (end + literals > out.length) throw new Lz4Error('The block holds more than a page')
    out.set(block.subarray(at, at + literals), end)
    at += literals
    end += literals
    if (at === block.length) return end
    end = copyMatch(out, { start: end, offset: next() | (next() << 8), length: length(token & 15) + 4 })
  }
  throw new Lz4Error('The block is empty')
}

type Match = { start: number; offset: number; length: number }

/** A match may overlap what it makes, so it is copied byte by byte where it does. */
function copyMatch(out: Uint8Array, { start, offset, length }: Match): number {
  const from = start - offset
  if (offset === 0 || from < 0) throw new Lz4Error('The block refers to bytes before its beginning')
  if (start + length > out.length) throw new Lz4Error('The block holds more than a page')
  if (offset >= length) out.copyWithin(start, from, from + length)
  else for (let at = 0; at < length; at += 1) out[start + at] = out[from + at] as number
  return start + length
}
