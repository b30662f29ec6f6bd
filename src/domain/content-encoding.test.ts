import { expect, test } from 'bun:test'
import { CONTENT_CODINGS, type ContentCoding, chooseEncoding } from './content-encoding.ts'

const ALL = CONTENT_CODINGS
const GZIP: ContentCoding[] = ['gzip']

const cases: [header: string | null, available: readonly ContentCoding[], expected: string][] = [
  // what browsers and tools send
  ['gzip, deflate, br, zstd', ALL, 'br'],
  ['gzip, deflate, br, zstd', ['zstd', 'gzip'], 'zstd'],
  ['gzip, deflate, br, zstd', GZIP, 'gzip'],
  ['deflate, gzip, br, zstd', ALL, 'br'],
  ['gzip, deflate, br', ALL, 'br'],
  ['gzip, deflate, br', ['zstd', 'gzip'], 'gzip'],
  ['gzip, deflate, br', ['zstd'], 'identity'],
  ['gzip, deflate', ALL, 'gzip'],
  ['gzip, deflate', ['br', 'zstd'], 'identity'],
  ['gzip', ALL, 'gzip'],
  ['gzip, br', ALL, 'br'],
  ['br', ALL, 'br'],
  ['zstd', ALL, 'zstd'],
  ['zstd, gzip', ALL, 'zstd'],
  ['identity', ALL, 'identity'],
  ['deflate', ALL, 'identity'],
  ['compress, deflate', ALL, 'identity'],
  ['', ALL, 'identity'],
  [null, ALL, 'identity'],
  ['gzip, deflate, br, zstd', [], 'identity'],
  // weights
  ['gzip;q=0', ALL, 'identity'],
  ['br;q=0, gzip', ALL, 'gzip'],
  ['br;q=0, zstd;q=0, gzip', ALL, 'gzip'],
  ['gzip;q=1.0, br;q=0.5', ALL, 'gzip'],
  ['gzip;q=0.8, br;q=0.8', ALL, 'br'],
  ['br;q=0.5, gzip;q=0.8, zstd;q=0.7', ['br', 'zstd'], 'zstd'],
  ['br;q=0.001', ALL, 'br'],
  ['br;q=0.000', ALL, 'identity'],
  ['identity, gzip;q=0.5', ALL, 'identity'],
  ['identity;q=0.5, gzip;q=1.0', ALL, 'gzip'],
  ['identity;q=0.5, gzip;q=0.5', ALL, 'gzip'],
  ['gzip;q=0.3, identity;q=0.5', ALL, 'identity'],
  ['identity;q=0, gzip', ALL, 'gzip'],
  // the star stands for every coding not named
  ['*', ALL, 'br'],
  ['*', GZIP, 'gzip'],
  ['*;q=0', ALL, 'identity'],
  ['gzip, *;q=0', ALL, 'gzip'],
  ['br;q=0, *', ALL, 'zstd'],
  ['gzip;q=0.5, *;q=0.8', ALL, 'br'],
  ['gzip, *;q=0.1', ALL, 'gzip'],
  ['identity;q=0, *', ALL, 'br'],
  // nothing acceptable is available: sent unencoded anyway
  ['identity;q=0', ALL, 'identity'],
  ['identity;q=0, br', GZIP, 'identity'],
  ['*;q=0, identity;q=0', ALL, 'identity'],
  // spelling
  ['GZIP', ALL, 'gzip'],
  ['x-gzip', ALL, 'gzip'],
  ['Br;Q=0.9 , gzip ; q=0.4', ALL, 'br'],
  ['  gzip  ,, br  ', ALL, 'br'],
  ['gzip;level=9;q=0, br', GZIP, 'identity'],
  ['br;q=abc, gzip', ALL, 'gzip'],
  ['br;q=1.5, gzip', ALL, 'gzip'],
  ['br;q=, gzip', ALL, 'gzip'],
  ['br;q=-1, gzip', ALL, 'gzip'],
  ['brotli, gzipped, zstandard', ALL, 'identity'],
  ['vbr', ALL, 'identity'],
]

test.each(cases)('%p of %j: %s', (header, available, expected) => {
  expect<string>(chooseEncoding(header, available)).toBe(expected)
})

test('the shortcut for common headers gives the same result as full parsing', () => {
  const usual = ['gzip, deflate, br, zstd', 'gzip, deflate, br', 'br, gzip', 'gzip, deflate', 'gzip']
  const subsets: ContentCoding[][] = [
    ['br'],
    ['zstd'],
    ['gzip'],
    ['br', 'zstd'],
    ['br', 'gzip'],
    ['zstd', 'gzip'],
    [...ALL],
  ]
  for (const header of usual)
    for (const available of subsets)
      expect(chooseEncoding(header, available)).toBe(chooseEncoding(`${header},`, available))
})
