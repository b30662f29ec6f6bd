import { describe, expect, test } from 'bun:test'
import { toNfc } from './nfc.ts'

const ABOVE = '\u0301'
const BELOW = '\u0323'
const IOTA = '\u1f82' // A letter of three bytes that is one letter and three marks.

const ordinary = [
  '',
  '/docs/index.html',
  `/cafe${ABOVE}`,
  `/${'e\u0302\u0323'.repeat(2000)}`,
  `/${'\u1112\u1161\u11ab'.repeat(500)}`,
  `/${'\u0915\u093c'.repeat(500)}`,
  // The name of a file with the most marks behind one letter, decomposed and in the worst order.
  `/${IOTA.normalize('NFD')}${`${ABOVE}${BELOW}`.repeat(63)}`,
  `/${'a'.repeat(500)}${'e\u0301'.repeat(500)}`,
]
test.each(ordinary)('a text with at most 160 marks in a run is in NFC (%#)', (text) => {
  expect(toNfc(text)).toBe(text.normalize('NFC'))
})

describe('of a longer run', () => {
  const run = `${ABOVE}${BELOW}`.repeat(100)

  test('what lies behind 160 marks stays as it is, and what is around it is in NFC', () => {
    const text = `e\u0301/${'e'}${run}/e\u0301`
    const composed = `\u00e9/${`e${run.slice(0, 160)}`.normalize('NFC')}${run.slice(160)}/\u00e9`
    expect(toNfc(text)).toBe(composed)
    expect(toNfc(`${text}${text}`)).toBe(`${composed}${composed}`)
  })

  test('marks beyond the basic plane count as one each', () => {
    const mark = '\u{1d165}'
    const below = '\u{1d17b}'
    const text = `x${`${mark}${below}`.repeat(100)}`
    const kept = [...text].slice(0, 161).join('')
    expect(toNfc(text)).toBe(kept.normalize('NFC') + text.slice(kept.length))
  })
})

/** Sorting them all would take minutes: without the bound this test does not end in its time. */
test('a million marks take no longer than a million letters', () => {
  const text = `/e${ABOVE.repeat(500_000)}${BELOW.repeat(500_000)}`
  expect(toNfc(text)).toHaveLength(text.length - 1)
}, 20_000)
