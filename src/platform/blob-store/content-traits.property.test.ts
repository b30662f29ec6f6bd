import { expect, test } from 'bun:test'
import { hasTrait, TRAIT, traitsOf, traitsOfEnds } from '../../domain/content-traits.ts'
import { rounds, seedOf } from '../../testing/rounds.ts'
import { seededRandom } from '../../testing/seeded-random.ts'

const seed = seedOf('content-traits')

/** Whole characters of every length, parts of them, overlong and foreign bytes, and controls. */
const PIECES = [
  ...['a', '{"a":1}', '\n', '\t\r\f', 'ü', '€', '😀', '\u07ff', '\u0800', '\uffff', '\u{10ffff}', '\ufeff'],
  ...['\u001b', '\u001b$B', '\u0000', '\u000b', '\u007f', '\u0080', '\u009f', '\u00a0'],
].map((text) => Buffer.from(text))
const FAULTS = [
  '80',
  'bf',
  'c0',
  'c1',
  'c2',
  'e2',
  'e282',
  'f0',
  'f09f',
  'f09f98',
  'ff',
  'e080',
  'e08080',
  'eda080',
]
  .concat(['f4', 'f490', 'f5', 'c3', 'fc', 'e0', 'ed', 'f08080', 'e9'])
  .map((hex) => Buffer.from(hex, 'hex'))

const random = seededRandom(seed)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T

function someBytes(): Buffer {
  const faulty = random() < 0.4 ? 0.2 : 0
  const length = Math.floor(random() * 20)
  return Buffer.concat(Array.from({ length }, () => (random() < faulty ? pick(FAULTS) : pick(PIECES))))
}

/** The text, if the bytes are UTF-8; `cut`: they may end amid a character. */
function decoded(bytes: Uint8Array, cut = false): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: cut })
  } catch {
    return undefined
  }
}

/** Up to 3 bytes may belong to a character that began before. */
function decodedTail(bytes: Uint8Array): string | undefined {
  for (let skipped = 0; skipped <= 3; skipped++) {
    if (skipped > 0 && ((bytes[skipped - 1] ?? 0) & 0xc0) !== 0x80) return undefined
    const text = decoded(bytes.subarray(skipped))
    if (text !== undefined) return text
  }
  return undefined
}

function expected(texts: readonly (string | undefined)[]): { utf8: boolean; text: boolean } {
  const isUtf8 = texts.every((text) => text !== undefined)
  return {
    utf8: isUtf8 && !texts.some((text) => text?.includes('\u001b')),
    text: isUtf8 && !texts.some((text) => /\p{Cc}/u.test(text?.replace(/[\t\n\f\r]/g, '') ?? '')),
  }
}

const found = (traits: number) => ({
  utf8: hasTrait(traits, TRAIT.utf8),
  text: hasTrait(traits, TRAIT.text),
})

test('text and charset are what a strict TextDecoder says', () => {
  for (let round = 0; round < rounds(5_000, 500_000); round++) {
    const bytes = someBytes()
    expect([bytes.toString('hex'), found(traitsOf(bytes))]).toEqual([
      bytes.toString('hex'),
      expected([decoded(bytes)]),
    ])
  }
})

test('of two ends they are too, wherever these cut a character', () => {
  for (let round = 0; round < rounds(5_000, 500_000); round++) {
    const bytes = someBytes()
    const [head, tail] = [
      bytes.subarray(0, Math.floor(random() * (bytes.length + 1))),
      bytes.subarray(Math.floor(random() * (bytes.length + 1))),
    ]
    const shown = `${head.toString('hex')} … ${tail.toString('hex')}`
    expect([shown, found(traitsOfEnds(head, tail))]).toEqual([
      shown,
      expected([decoded(head, true), decodedTail(tail)]),
    ])
  }
})
