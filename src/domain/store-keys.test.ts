import { expect, test } from 'bun:test'
import { baseKey, fileKey, logKey, numberOfBase, numberOfLog } from './store-keys.ts'

test('keys of the log and of bases, there and back', () => {
  expect(logKey(26)).toBe('db/0000/000000000000001a-000000000000001a.ltx')
  expect(baseKey(26)).toBe('db/0009/0000000000000001-000000000000001a.ltx')
  expect(fileKey('ab', 'x')).toBe('files/ab-x')
  for (const number of [1, 255, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    expect(numberOfLog(logKey(number))).toBe(number)
    expect(numberOfBase(baseKey(number))).toBe(number)
  }
  for (const number of [0, -1, 1.5, 2 ** 53, Number.NaN]) expect(() => logKey(number)).toThrow(RangeError)
})

test.each([
  'db/0000/0000000000000000-0000000000000000.ltx',
  'db/0000/0020000000000000-0020000000000000.ltx',
  'db/0000/0000000000000001-0000000000000002.ltx',
  'db/0000/1-1.ltx',
  'db/0000/000000000000000A-000000000000000A.ltx',
  'db/0000/0000000000000001-0000000000000001.wal',
  'x/db/0000/0000000000000001-0000000000000001.ltx',
  'db/0009/0000000000000002-0000000000000003.ltx',
  'db/0009/0000000000000001-0020000000000000.ltx',
])('%s is no key of the log or of a base', (key) => {
  expect(numberOfLog(key)).toBeNull()
  expect(numberOfBase(key)).toBeNull()
})
