import { expect, test } from 'bun:test'
import { httpDate, parseHttpDate } from './http-date.ts'

const RFC_EXAMPLE = Date.UTC(1994, 10, 6, 8, 49, 37)

const parsed: [text: string, expected: number | null][] = [
  ['Sun, 06 Nov 1994 08:49:37 GMT', RFC_EXAMPLE],
  ['Sunday, 06-Nov-94 08:49:37 GMT', RFC_EXAMPLE],
  ['Sun Nov  6 08:49:37 1994', RFC_EXAMPLE],
  ['Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
  ['Wednesday, 18-Nov-26 00:00:00 GMT', Date.UTC(2026, 10, 18)],
  ['Friday, 01-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 1)],
  ['Friday, 01-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 1)],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ['Thu, 29 Feb 2024 23:59:59 GMT', Date.UTC(2024, 1, 29, 23, 59, 59)],
  ['Tue, 29 Feb 2000 12:00:00 GMT', Date.UTC(2000, 1, 29, 12)],
  ['Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ['Thu, 29 Feb 1900 00:00:00 GMT', null],
  ['Wed, 29 Feb 2023 00:00:00 GMT', null],
  ['Sun, 31 Nov 1994 08:49:37 GMT', null],
  ['Sun, 00 Nov 1994 08:49:37 GMT', null],
  ['Sun, 06 Nov 1994 24:00:00 GMT', null],
  ['Sun, 06 Nov 1994 08:60:37 GMT', null],
  ['Sun, 06 Nov 1994 08:49:61 GMT', null],
  ['Sun, 06 Nov 1994 08:49:37 UTC', null],
  ['Sun, 06 Nov 1994 08:49:37 +0000', null],
  ['Sun, 06 Nov 1994 08:49:37', null],
  ['Sun, 6 Nov 1994 08:49:37 GMT', null],
  ['Xyz, 06 Nov 1994 08:49:37 GMT', null],
  ['Sun, 06 anF 1994 08:49:37 GMT', null],
  ['Sun, 06 nov 1994 08:49:37 GMT', null],
  ['Sun, -6 Nov 1994 08:49:37 GMT', null],
  ['Sun, 06_Nov 1994 08:49:37 GMT', null],
  ['Sun, 06 Nov 1994_08:49:37 GMT', null],
  ['Sun-day, 06-Nov-94 08:49:37 GMT', null],
  ['Sunday, 06-Nov-94 08.49.37 GMT', null],
  ['Sunday, 06-Nov-x4 08:49:37 GMT', null],
  ['Sun Nov 31 08:49:37 1994', null],
  ['1994-11-06T08:49:37Z', null],
  ['784111777', null],
  ['0', null],
  ['', null],
]

test.each(parsed)('%p is read as %p', (text, expected) => {
  expect(parseHttpDate(text)).toBe(expected)
})

const instants = [
  0,
  RFC_EXAMPLE,
  RFC_EXAMPLE + 999,
  Date.UTC(2026, 10, 20, 12, 34, 56, 789),
  Date.UTC(2024, 1, 29, 23, 59, 59, 999),
  Date.UTC(2000, 1, 29),
  Date.UTC(2100, 1, 28, 23, 59, 59),
  Date.UTC(1969, 11, 31, 23, 59, 59),
  Date.UTC(1900, 2, 1),
  Date.UTC(9999, 11, 31, 23, 59, 59),
]

test.each(instants)('%p is written as the platform writes it', (ms) => {
  expect(httpDate(ms)).toBe(new Date(ms).toUTCString())
})

test('every day of 400 years is written as the platform writes it and read back', () => {
  for (let day = 0; day < 146_097; day++) {
    const ms = day * 86_400_000 + (day % 86_400) * 1000
    const text = httpDate(ms)
    if (text !== new Date(ms).toUTCString() || parseHttpDate(text) !== ms) throw new Error(text)
  }
})
