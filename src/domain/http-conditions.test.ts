import { describe, expect, test } from 'bun:test'
import { type ConditionalDecision, decideConditional, ifRangeAllows, parseRange } from './http-conditions.ts'

const MODIFIED = Date.UTC(2026, 10, 20, 12, 0, 0) + 250
const SAME = 'Fri, 20 Nov 2026 12:00:00 GMT'
const EARLIER = 'Fri, 20 Nov 2026 11:59:59 GMT'
const LATER = 'Fri, 20 Nov 2026 12:00:01 GMT'
const MUCH_LATER = 'Fri, 20 Nov 2026 12:00:10 GMT'
const ABSENT = { ifMatch: null, ifNoneMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null }

describe('decideConditional', () => {
  type Row = [method: string, headers: Partial<typeof ABSENT> | object, expected: ConditionalDecision]
  const cases: Row[] = [
    ['GET', {}, 'proceed'],
    ['GET', { ifNoneMatch: '"a-br"' }, 'not_modified'],
    ['HEAD', { ifNoneMatch: '"a-br"' }, 'not_modified'],
    ['PUT', { ifNoneMatch: '"a-br"' }, 'precondition_failed'],
    ['GET', { ifNoneMatch: 'W/"a-br"' }, 'not_modified'],
    ['GET', { ifNoneMatch: '"b"' }, 'proceed'],
    ['GET', { ifNoneMatch: '"b", "a-br"' }, 'not_modified'],
    ['GET', { ifNoneMatch: '"b",W/"a-br" , "c"' }, 'not_modified'],
    ['GET', { ifNoneMatch: '"b, c" ,"a-br"' }, 'not_modified'],
    ['GET', { ifNoneMatch: '"x,"a-br",y"' }, 'proceed'],
    ['GET', { ifNoneMatch: '"a-b"' }, 'proceed'],
    ['GET', { ifNoneMatch: '"a-br2"' }, 'proceed'],
    ['GET', { ifNoneMatch: 'a-br' }, 'proceed'],
    ['GET', { ifNoneMatch: '"a-br' }, 'proceed'],
    ['GET', { ifNoneMatch: '' }, 'proceed'],
    ['GET', { ifNoneMatch: '*' }, 'not_modified'],
    ['GET', { ifNoneMatch: ' * ' }, 'not_modified'],
    ['DELETE', { ifNoneMatch: '*' }, 'precondition_failed'],
    ['GET', { ifModifiedSince: SAME }, 'not_modified'],
    ['GET', { ifModifiedSince: LATER }, 'not_modified'],
    ['GET', { ifModifiedSince: EARLIER }, 'proceed'],
    ['GET', { ifModifiedSince: 'Friday, 20-Nov-26 12:00:00 GMT' }, 'not_modified'],
    ['GET', { ifModifiedSince: 'Fri Nov 20 12:00:00 2026' }, 'not_modified'],
    ['GET', { ifModifiedSince: 'Fri Nov 20 11:00:00 2026' }, 'proceed'],
    ['GET', { ifModifiedSince: '2026-11-20T12:00:00Z' }, 'proceed'],
    ['POST', { ifModifiedSince: SAME }, 'proceed'],
    ['GET', { ifMatch: '"a-br"' }, 'proceed'],
    ['GET', { ifMatch: '*' }, 'proceed'],
    ['GET', { ifMatch: '"b", "a-br"' }, 'proceed'],
    ['GET', { ifMatch: '"b"' }, 'precondition_failed'],
    ['GET', { ifMatch: 'W/"a-br"' }, 'precondition_failed'],
    ['GET', { ifMatch: '' }, 'precondition_failed'],
    ['GET', { ifUnmodifiedSince: SAME }, 'proceed'],
    ['GET', { ifUnmodifiedSince: LATER }, 'proceed'],
    ['GET', { ifUnmodifiedSince: EARLIER }, 'precondition_failed'],
    ['GET', { ifUnmodifiedSince: 'yesterday' }, 'proceed'],
    // precedence: If-Match over If-Unmodified-Since, If-None-Match over If-Modified-Since
    ['GET', { ifMatch: '"a-br"', ifUnmodifiedSince: EARLIER }, 'proceed'],
    ['GET', { ifMatch: '"b"', ifUnmodifiedSince: LATER }, 'precondition_failed'],
    ['GET', { ifNoneMatch: '"b"', ifModifiedSince: SAME }, 'proceed'],
    ['GET', { ifNoneMatch: '"a-br"', ifModifiedSince: EARLIER }, 'not_modified'],
    ['GET', { ifMatch: '"b"', ifNoneMatch: '"a-br"' }, 'precondition_failed'],
    ['GET', { ifMatch: '"a-br"', ifNoneMatch: '"a-br"' }, 'not_modified'],
    ['GET', { ifUnmodifiedSince: EARLIER, ifModifiedSince: SAME }, 'precondition_failed'],
    ['GET', { ifUnmodifiedSince: SAME, ifModifiedSince: SAME }, 'not_modified'],
  ]

  test.each(cases)('%s with %j: %s', (method, headers, expected) => {
    const request = { ...ABSENT, ...headers, method }
    expect(decideConditional(request, { etag: '"a-br"', lastModified: MODIFIED, shownSince: 0 })).toBe(
      expected,
    )
  })

  // Until ten seconds later the URL showed something newer: only the file's own time, or one after that, matches.
  const wentBack: [headers: object, expected: ConditionalDecision][] = [
    [{ ifModifiedSince: EARLIER }, 'proceed'],
    [{ ifModifiedSince: SAME }, 'not_modified'],
    [{ ifModifiedSince: LATER }, 'proceed'],
    [{ ifModifiedSince: MUCH_LATER }, 'not_modified'],
    [{ ifUnmodifiedSince: SAME }, 'proceed'],
    [{ ifUnmodifiedSince: LATER }, 'precondition_failed'],
    [{ ifUnmodifiedSince: MUCH_LATER }, 'proceed'],
  ]

  test.each(wentBack)('an alias that was rolled back, %j: %s', (headers, expected) => {
    const request = { ...ABSENT, ...headers, method: 'GET' }
    const current = { etag: '"a"', lastModified: MODIFIED, shownSince: Date.parse(MUCH_LATER) }
    expect(decideConditional(request, current)).toBe(expected)
  })

  const weak: [headers: object, expected: ConditionalDecision][] = [
    [{ ifNoneMatch: 'W/"a"' }, 'not_modified'],
    [{ ifNoneMatch: '"a"' }, 'not_modified'],
    [{ ifMatch: 'W/"a"' }, 'precondition_failed'],
    [{ ifMatch: '"a"' }, 'precondition_failed'],
  ]

  test.each(weak)('a weak tag, %j: %s', (headers, expected) => {
    const request = { ...ABSENT, ...headers, method: 'GET' }
    expect(decideConditional(request, { etag: 'W/"a"', lastModified: MODIFIED, shownSince: 0 })).toBe(
      expected,
    )
  })
})

describe('parseRange', () => {
  const satisfiable: [header: string, size: number, ranges: [number, number][]][] = [
    ['bytes=0-499', 1000, [[0, 499]]],
    ['bytes=0-0', 1000, [[0, 0]]],
    ['bytes=500-', 1000, [[500, 999]]],
    ['bytes=0-', 1000, [[0, 999]]],
    ['bytes=-500', 1000, [[500, 999]]],
    ['bytes=-5000', 1000, [[0, 999]]],
    ['bytes=900-5000', 1000, [[900, 999]]],
    ['bytes=999-999', 1000, [[999, 999]]],
    ['BYTES=0-1', 1000, [[0, 1]]],
    [
      'bytes= 0-1 , 4-5 ',
      1000,
      [
        [0, 1],
        [4, 5],
      ],
    ],
    [
      'bytes=0-1,,4-5,',
      1000,
      [
        [0, 1],
        [4, 5],
      ],
    ],
    [
      'bytes=0-1,2-3',
      1000,
      [
        [0, 1],
        [2, 3],
      ],
    ],
    [
      'bytes=4-5,0-1',
      1000,
      [
        [4, 5],
        [0, 1],
      ],
    ],
    [
      'bytes=0-1,-2',
      1000,
      [
        [0, 1],
        [998, 999],
      ],
    ],
    ['bytes=0-1,2000-3000', 1000, [[0, 1]]],
    ['bytes=0-1,-0', 1000, [[0, 1]]],
    ['bytes=0-10,5-20', 1000, [[0, 20]]],
    ['bytes=0-10,2-4', 1000, [[0, 10]]],
    [
      'bytes=500-600,0-10,5-20,20-30',
      1000,
      [
        [0, 30],
        [500, 600],
      ],
    ],
    ['bytes=0-,0-,0-,0-', 1000, [[0, 999]]],
    ['bytes=0-99999999999999999999999999', 1000, [[0, 999]]],
    ['bytes=-99999999999999999999999999', 1000, [[0, 999]]],
  ]

  test.each(satisfiable)('%s of %p bytes', (header, size, ranges) => {
    const expected = ranges.map(([start, end]) => ({ start, end }))
    expect(parseRange(header, size)).toEqual({ kind: 'ranges', ranges: expected })
  })

  test.each([
    ['bytes=1000-', 1000],
    ['bytes=1000-2000', 1000],
    ['bytes=-0', 1000],
    ['bytes=5000-6000, 7000-', 1000],
    ['bytes=99999999999999999999999999-', 1000],
  ])('%s of %p bytes cannot be satisfied', (header, size) => {
    expect(parseRange(header, size)).toEqual({ kind: 'unsatisfiable' })
  })

  test.each([
    [null, 1000],
    ['', 1000],
    ['bytes', 1000],
    ['bytes=', 1000],
    ['bytes= , ', 1000],
    ['bytes=-', 1000],
    ['bytes=abc', 1000],
    ['bytes=a-b', 1000],
    ['bytes=5', 1000],
    ['bytes=5-4', 1000],
    ['bytes=0-1,5-4', 1000],
    ['bytes=0-1;2-3', 1000],
    ['bytes=0 - 1', 1000],
    ['bytes=--1', 1000],
    ['bytes=0-1-2', 1000],
    ['bytes=+0-1', 1000],
    ['bytes=0x0-0x1', 1000],
    ['bytes=1.5-2', 1000],
    ['bytes:0-1', 1000],
    ['bytes =0-1', 1000],
    ['items=0-1', 1000],
    ['bytes=0-0', 0],
    ['bytes=-1', 0],
  ])('%p of %p bytes is ignored', (header, size) => {
    expect(parseRange(header, size)).toEqual({ kind: 'none' })
  })

  test('64 ranges are answered, more are ignored', () => {
    const header = (count: number) =>
      `bytes=${Array.from({ length: count }, (_, i) => `${i * 2}-${i * 2}`).join()}`
    expect(parseRange(header(64), 1000)).toMatchObject({ kind: 'ranges', ranges: { length: 64 } })
    expect(parseRange(header(65), 1000)).toEqual({ kind: 'none' })
    expect(parseRange(header(100_000), 1_000_000)).toEqual({ kind: 'none' })
  })

  test('the answered ranges are never longer than the file', () => {
    const header = `bytes=${Array.from({ length: 60 }, (_, i) => `${59 - i}-`).join()}`
    expect(parseRange(header, 1000)).toEqual({ kind: 'ranges', ranges: [{ start: 0, end: 999 }] })
  })
})

describe('ifRangeAllows', () => {
  const cases: [ifRange: string | null, etag: string, expected: boolean][] = [
    [null, '"a"', true],
    ['"a"', '"a"', true],
    [' "a" ', '"a"', true],
    ['"b"', '"a"', false],
    ['W/"a"', '"a"', false],
    ['W/"a"', 'W/"a"', false],
    ['"a"', 'W/"a"', false],
    ['"b", "a"', '"a"', false],
    ['*', '"a"', false],
    [SAME, '"a"', true],
    ['Friday, 20-Nov-26 12:00:00 GMT', '"a"', true],
    [EARLIER, '"a"', false],
    [LATER, '"a"', false],
    ['yesterday', '"a"', false],
    ['', '"a"', false],
  ]

  test.each(cases)('%p for %s: %p', (ifRange, etag, expected) => {
    expect(ifRangeAllows(ifRange, etag, MODIFIED)).toBe(expected)
  })

  test('no date counts where it stands for different bytes', () => {
    expect(ifRangeAllows(SAME, '"a"', null)).toBe(false)
    expect(ifRangeAllows('"a"', '"a"', null)).toBe(true)
  })
})
