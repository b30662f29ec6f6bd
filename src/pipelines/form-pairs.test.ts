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

test('reads every text as URLSearchParams does', () => {
  const random = generator(7)
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + (random() % 8) }, () => PIECES[random() % PIECES.length]).join('')
    // The constructor would strip a leading question mark; a body has none to strip.
    expect(formPairs(text)).toEqual([...new URLSearchParams(`&${text}`)])
  }
})

function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state >> 8
  }
}
