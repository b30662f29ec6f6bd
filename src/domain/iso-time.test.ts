import { expect, test } from 'bun:test'
import { AppError } from './errors.ts'
import { parseTime } from './iso-time.ts'

const good: [text: string | undefined, at: number | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['1970-01-02', 86_400_000],
  ['1970-01-01T00:00:01.500Z', 1500],
  ['1970-01-01T01:00:00+01:00', 0],
  ['1970-01-01T00:01', 60_000],
]

test.each(good)('%p is %p', (text, at) => {
  expect(parseTime('from', text)).toBe(at as number)
})

test.each([
  '7',
  'yesterday',
  '2026-13-40',
  '20-11-2026',
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '02/03/2099',
  '2099-2-3',
  '2026-11-20 or so',
])('%s is refused', (text) => {
  expect(() => parseTime('from', text)).toThrow(AppError)
})
