import { expect, test } from 'bun:test'
import { AppError } from './errors.ts'
import { type PaginationQuery, pageOfRows, paginated, parsePagination } from './pagination.ts'

const OPTIONS = {
  sortable: ['createdAt', 'commitSha'],
  defaultSort: 'createdAt',
  defaultOrder: 'desc',
} as const
const DEFAULTS = { page: 1, limit: 20, offset: 0, sort: 'createdAt', order: 'desc' }

const good: [query: PaginationQuery, expected: object][] = [
  [{}, DEFAULTS],
  [{ page: undefined, limit: undefined, sort: undefined, order: undefined }, DEFAULTS],
  [{ page: '', limit: '', sort: '', order: '' }, DEFAULTS],
  [{ page: '3' }, { ...DEFAULTS, page: 3, offset: 40 }],
  [
    { page: 2, limit: 50 },
    { ...DEFAULTS, page: 2, limit: 50, offset: 50 },
  ],
  [{ limit: '100' }, { ...DEFAULTS, limit: 100 }],
  [
    { limit: '1', page: '10' },
    { ...DEFAULTS, page: 10, limit: 1, offset: 9 },
  ],
  [
    { sort: 'commitSha', order: 'asc' },
    { ...DEFAULTS, sort: 'commitSha', order: 'asc' },
  ],
  [{ page: '1000000' }, { ...DEFAULTS, page: 1_000_000, offset: 19_999_980 }],
  ...['9007199254740993', '9'.repeat(20), '9'.repeat(400)].map((page): (typeof good)[number] => [
    { page },
    { ...DEFAULTS, page: Number.MAX_SAFE_INTEGER, offset: Number.MAX_SAFE_INTEGER },
  ]),
]

test.each(good)('%j', (query, expected) => {
  expect<object>(parsePagination(query, OPTIONS)).toEqual(expected)
})

const bad: [query: PaginationQuery, paths: string[]][] = [
  [{ limit: '101' }, ['limit']],
  [{ limit: 101 }, ['limit']],
  [{ limit: '0' }, ['limit']],
  [{ limit: '-1' }, ['limit']],
  [{ limit: '1.5' }, ['limit']],
  [{ limit: 'all' }, ['limit']],
  [{ limit: Number.NaN }, ['limit']],
  [{ page: '0' }, ['page']],
  [{ page: '-1' }, ['page']],
  [{ page: '1e3' }, ['page']],
  [{ page: ' 1' }, ['page']],
  [{ page: '0x10' }, ['page']],
  [{ sort: 'password' }, ['sort']],
  [{ sort: 'constructor' }, ['sort']],
  [{ order: 'DESC' }, ['order']],
  [{ order: 'up' }, ['order']],
  [{ page: '0', limit: '101', sort: 'x', order: 'y' }, ['page', 'limit', 'sort', 'order']],
]

test.each(bad)('%j is refused, naming %j', (query, paths) => {
  const refusal = refusalOf(query)
  expect(refusal.status).toBe(400)
  expect(refusal.details?.map((detail) => detail.path)).toEqual(paths)
})

test('a refusal says what is allowed', () => {
  expect(refusalOf({ limit: '101' }).message).toBe('limit must be a whole number from 1 to 100')
  expect(refusalOf({ sort: 'x' }).message).toBe('sort must be one of createdAt, commitSha')
})

function refusalOf(query: PaginationQuery): AppError {
  try {
    parsePagination(query, OPTIONS)
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('not refused')
}

const envelopes: [total: number, limit: number, pages: number][] = [
  [0, 20, 0],
  [1, 20, 1],
  [20, 20, 1],
  [21, 20, 2],
  [250, 100, 3],
]

test.each(envelopes)('%p rows by %p are %p pages', (total, limit, pages) => {
  expect(paginated(['a'], total, { page: 2, limit })).toEqual({
    data: ['a'],
    pagination: { page: 2, limit, total, pages },
  })
})

test.each([
  [1, ['a', 'b'], 1],
  [2, ['c'], 2],
  [9, ['c'], 2],
])('page %p of three rows by two', (asked, rows, page) => {
  expect(pageOfRows(['a', 'b', 'c'], asked, 2)).toEqual({ rows, page, pages: 2, total: 3 })
})

test('no rows are one empty page', () => {
  expect(pageOfRows([], 3, 2)).toEqual({ rows: [], page: 1, pages: 1, total: 0 })
})
