import { expect, test } from 'bun:test'
import { parseRetryAfter } from './retry-after.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 20 Nov 2026 12:00:10 GMT', 10_000],
  ['Friday, 20-Nov-26 12:00:10 GMT', 10_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['-5', null],
  ['1.5', null],
  ['9999999999', null],
  ['soon', null],
  ['', null],
  [null, null],
])('%p is %p ms', (text, expected) => {
  expect(parseRetryAfter(text, NOW)).toBe(expected)
})

test('a date is ignored when the current time is unknown', () => {
  expect(parseRetryAfter('Fri, 20 Nov 2026 12:00:10 GMT', null)).toBeNull()
  expect(parseRetryAfter('7', null)).toBe(7000)
})
