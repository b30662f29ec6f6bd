import { expect, test } from 'bun:test'
import { hasTrait, TRAIT } from '../../domain/content-traits.ts'
import { ContentSample } from './content-sample.ts'

const KIB = 1024
const MIB = 1024 * KIB

/** Text of that many bytes, with `fault` at `at`. */
function content(sizeBytes: number, fault?: Uint8Array, at = 0): Buffer {
  const bytes = Buffer.alloc(sizeBytes, 'text ')
  if (fault !== undefined) bytes.set(fault, at < 0 ? sizeBytes + at : at)
  return bytes
}
const ODD = Uint8Array.of(0xff)
const ESC = Uint8Array.of(0x1b)
const EURO = Buffer.from('€')

const rows: [name: string, bytes: Buffer, isUtf8: boolean][] = [
  ['nothing', content(0), true],
  ['one broken byte', Buffer.from([0xff]), false],
  ['4 MiB', content(4 * MIB), true],
  ['4 MiB with a fault in the middle', content(4 * MIB, ODD, 2 * MIB), false],
  ['4 MiB that end amid a character', content(4 * MIB, EURO.subarray(0, 2), -2), false],
  ['more than 4 MiB', content(4 * MIB + 1), true],
  ['more with a fault in the middle', content(5 * MIB, ODD, 2 * MIB), true],
  ['more with a fault in the last byte of the first MiB', content(5 * MIB, ODD, MIB - 1), false],
  ['more with a fault behind the first MiB', content(5 * MIB, ODD, MIB), true],
  ['more with ESC in the first MiB', content(5 * MIB, ESC, 7), false],
  ['more with ESC in the middle', content(5 * MIB, ESC, 3 * MIB), true],
  ['more with ESC at the end', content(5 * MIB, ESC, -1), false],
  ['more with a character over the end of the first MiB', content(5 * MIB, EURO, MIB - 1), true],
  ['more with two bytes of one before it', content(5 * MIB, EURO, MIB - 2), true],
  ['more with a fault at the start of the last 64 KiB', content(5 * MIB, ODD, -64 * KIB), false],
  ['more with a fault before it', content(5 * MIB, ODD, -64 * KIB - 1), true],
  ['more with a character over the start of the last 64 KiB', content(5 * MIB, EURO, -64 * KIB - 1), true],
  ['more with one byte of it before', content(5 * MIB, EURO, -64 * KIB - 2), true],
  ['more that end amid a character', content(5 * MIB, EURO.subarray(0, 2), -2), false],
]

for (const chunkBytes of [64 * KIB, 1_000_003, 3 * MIB, 16 * MIB])
  test.each(rows)(`%s, in pieces of ${chunkBytes} bytes`, (_name, bytes, isUtf8) => {
    const sample = new ContentSample()
    for (let start = 0; start < bytes.length; start += chunkBytes) {
      const piece = Buffer.from(bytes.subarray(start, start + chunkBytes))
      sample.push(piece)
      piece.fill(0xff)
    }
    expect(hasTrait(sample.traits(), TRAIT.utf8)).toBe(isUtf8)
  })
