import { expect, test } from 'bun:test'
import { checkFieldValue, convertFieldText, type FieldType, nestingOf } from './field-types.ts'

const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
const NOT_OK = Symbol('refused')

const values: [type: FieldType, value: unknown, kept: unknown][] = [
  ['string', 'a', 'a'],
  ['string', '', ''],
  ['string', 5, NOT_OK],
  ['text', 'a\nb', 'a\nb'],
  ['text', null, NOT_OK],
  ['email', 'ann@example.com', 'ann@example.com'],
  ['email', 'ann@example', NOT_OK],
  ['email', 'ann', NOT_OK],
  ['email', 'a@b@example.com', NOT_OK],
  ['email', 'ann@example.com\r\nBcc: x@y.z', NOT_OK],
  ['url', 'https://example.com/a?b=c', 'https://example.com/a?b=c'],
  ['url', 'javascript:alert(1)', NOT_OK],
  ['url', 'https://', NOT_OK],
  ['url', 'https://example.com/a b', NOT_OK],
  ['url', `https://example.com/${'a'.repeat(5000)}`, `https://example.com/${'a'.repeat(5000)}`],
  // Sorting its marks would take minutes.
  ['url', `https://a${'\u0301\u0323'.repeat(500_000)}`, NOT_OK],
  ['number', 1.5, 1.5],
  ['number', '1.5', NOT_OK],
  ['number', Number.POSITIVE_INFINITY, NOT_OK],
  ['integer', 7, 7],
  ['integer', 7.5, NOT_OK],
  ['integer', 2 ** 53, NOT_OK],
  ['boolean', false, false],
  ['boolean', 0, NOT_OK],
  ['date', '2026-02-28', '2026-02-28'],
  ['date', '2026-02-30', NOT_OK],
  ['date', '2026-2-3', NOT_OK],
  ['datetime', '2026-11-20T12:00:00Z', '2026-11-20T12:00:00.000Z'],
  ['datetime', '2026-11-20T13:00:00.5+01:00', '2026-11-20T12:00:00.500Z'],
  ['datetime', '2026-11-20T12:00', '2026-11-20T12:00:00.000Z'],
  ['datetime', '2026-02-30T12:00:00Z', NOT_OK],
  ['datetime', '2026-11-20', NOT_OK],
  ['json', { a: [1, null] }, { a: [1, null] }],
  ['json', Number.NaN, NOT_OK],
  ['json', undefined, NOT_OK],
  ['json', deep(101), NOT_OK],
]

test.each(values)('%s takes %p: %p', (type, value, kept) => {
  const checked = checkFieldValue(type, value)
  expect(checked.ok ? checked.value : NOT_OK).toEqual(kept)
})

const texts: [type: FieldType, text: string, kept: unknown][] = [
  ['string', ' a ', ' a '],
  ['number', '5', 5],
  ['number', '-1.5e3', -1500],
  ['number', '0x10', NOT_OK],
  ['number', 'five', NOT_OK],
  ['integer', ' 12 ', 12],
  ['integer', '1.5', NOT_OK],
  ['boolean', 'on', true],
  ['boolean', 'False', false],
  ['boolean', 'maybe', NOT_OK],
  ['email', ' ann@example.com ', 'ann@example.com'],
  ['json', '{"a":1}', { a: 1 }],
  ['json', '{a:1}', NOT_OK],
  ['json', '['.repeat(5_000_000), NOT_OK],
]

test.each(texts)('%s reads a text', (type, text, kept) => {
  const checked = convertFieldText(type, text)
  expect(checked.ok ? checked.value : NOT_OK).toEqual(kept)
})

test('a json value that repeats a part counts the part each time', () => {
  const doubled = (times: number): unknown => {
    let value: unknown = 1
    for (let i = 0; i < times; i++) value = { a: value, b: value }
    return value
  }
  expect(checkFieldValue('json', doubled(10)).ok).toBe(true)
  expect(checkFieldValue('json', doubled(60))).toEqual({ ok: false, message: 'is too large' })
  // The most a 10 MiB body can contain is still accepted.
  expect(checkFieldValue('json', Array(5_000_000).fill(1)).ok).toBe(true)
})

test.each([
  ['1', 0],
  ['[]', 1],
  ['{"a":[{}]}', 3],
  ['"[[["', 0],
  ['["\\"[[["]', 1],
] as const)('%s nests %p deep', (json, depth) => {
  expect(nestingOf(json)).toBe(depth)
})
