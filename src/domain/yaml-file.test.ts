import { describe, expect, test } from 'bun:test'
import { stringify } from 'yaml'
import { MAX_FILE_BYTES, readYaml } from './yaml-file.ts'

/** A seeded generator: every run gets the same numbers. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

describe('places', () => {
  const text = 'a:\n  - b: 1\n    "c.d": [x, y]\n'
  const yaml = readYaml('f', text)
  test.each<[(string | number)[], 'key' | 'value', number, number]>([
    [['a'], 'key', 1, 1],
    [['a'], 'value', 2, 3],
    [['a', 0, 'b'], 'value', 2, 8],
    [['a', 0, 'c.d'], 'key', 3, 5],
    [['a', 0, 'c.d', 1], 'value', 3, 16],
    [['a', 0, 'nothing'], 'value', 2, 5],
    [['a', 7], 'value', 2, 3],
  ])('%j %s', (path, place, line, column) => {
    expect(yaml.at(path, place)).toEqual({ line, column })
  })
})

test.each([
  ['exactly 100 aliases', `x: &a 1\ny: [${Array(100).fill('*a').join(', ')}]\n`, 0],
  ['101 aliases', `x: &a 1\ny: [${Array(101).fill('*a').join(', ')}]\n`, 1],
  ['brackets without an end', '['.repeat(50_000), 1],
  ['braces without an end', '{a: '.repeat(50_000), 1],
  ['dashes', '- '.repeat(50_000), 1],
])('%s', (_what, text, least) => {
  expect(readYaml('f', text).problems.length).toBeGreaterThanOrEqual(least)
  if (least === 0) expect(readYaml('f', text).problems).toEqual([])
})

/** Fragments that break parsers when combined. */
const PIECES = [
  'a: ',
  '- ',
  '? ',
  ': ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '&x ',
  '*x ',
  '!t ',
  '!!str ',
  '|\n',
  '>-\n',
  '#c\n',
  '\n',
  '  ',
  '\t',
  '%YAML 1.2\n',
  '---\n',
  '...\n',
  '<<: ',
  '\u0000',
  '\ufeff',
  '\u2028',
  'é',
  '😀',
  '0x',
  '.nan',
  '~',
  '\\',
  ',',
  '@',
  '`',
] // prettier-ignore

test('any text gives a value or problems with a position, and never throws', () => {
  const random = randomOf(20261120)
  for (let round = 0; round < 3000; round++) {
    const length = 1 + Math.floor(random() * 40)
    let text = ''
    for (let i = 0; i < length; i++) text += PIECES[Math.floor(random() * PIECES.length)] ?? ''
    const { value, problems } = readYaml('f', text)
    if (problems.length > 0) expect(value).toBeUndefined()
    else expect(() => JSON.stringify(value)).not.toThrow()
    for (const { line, column, message } of problems) {
      expect(line).toBeGreaterThanOrEqual(1)
      expect(column).toBeGreaterThanOrEqual(1)
      expect(message).not.toBe('')
    }
  }
})

test('written YAML reads back', () => {
  const random = randomOf(7)
  const textOf = () => {
    let text = ''
    for (let i = 0; i < 12; i++) text += PIECES[Math.floor(random() * PIECES.length)] ?? ''
    return text
  }
  for (let round = 0; round < 500; round++) {
    const value = { plain: textOf(), list: [textOf(), round, null, true], map: { [`k${round}`]: textOf() } }
    expect(readYaml('f', stringify(value, { lineWidth: 0 })).value).toEqual(value)
  }
})

test('a file of 1 MiB is read', () => {
  const text = `a: "${'x'.repeat(MAX_FILE_BYTES - 10)}"\n`
  expect(readYaml('f', text).problems).toEqual([])
})

// In quadratic time this would exceed the limit of a test.
test('each of many keys is found quickly', () => {
  const keys = Array.from({ length: 90_000 }, (_, i) => `k${i}`)
  const { at } = readYaml('f', keys.map((key) => `${key}: 1\n`).join(''))
  expect(keys.filter((key, i) => at([key], 'key').line !== i + 1)).toEqual([])
})
