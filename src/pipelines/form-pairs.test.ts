import { expect, test } from 'bun:test'
import { formPairs } from './form-pairs.ts'

const PIECES = [
  'a',
  '=',
  '&',
  '+',
  '%',
  '%20',
  '%C3%A9',
  '%e2%82%ac',
  '%ff',
  '%C3',
  '%zz',
  '%0',
  'é',
  '\ud800',
  '%00',
  ' ',
  '?',
  '#',
  '%2B',
  '%EF%BB%BF',
]

const read = (text: string) => formPairs(Buffer.from(text), null)

/** Whether each escaped byte of a piece is part of a character in UTF-8. */
function isUtf8(text: string): boolean {
  const bytes = unescapeBytes(text)
  return Buffer.from(bytes.toString('utf8')).equals(bytes)
}

const unescapeBytes = (text: string): Buffer =>
  Buffer.from(
    Buffer.from(text)
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

test('reads every text as URLSearchParams does, and refuses what is not UTF-8', () => {
  const random = generator(7)
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + (random() % 8) }, () => PIECES[random() % PIECES.length]).join('')
    // The constructor would strip a leading question mark; a body has none to strip.
    if (text.split(/[&=]/).every(isUtf8)) expect(read(text)).toEqual([...new URLSearchParams(`&${text}`)])
    else expect(() => read(text)).toThrow('is not UTF-8')
  }
})

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state >> 8
  }
}
