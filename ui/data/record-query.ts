import { AppError } from '../../src/domain/errors.ts'
import { FILTER_OPS } from '../../src/domain/record-words.ts'
import { filterPairs, parseFilters, type TextFilter } from '../../src/modules/records/filters.ts'
import { pageNumberOf } from '../frame/form.ts'

/** The filters and order of a list of records, as in the address of its page. */
export type RecordsQuery = {
  filters: readonly TextFilter[]
  sort: string
  order: 'asc' | 'desc'
  page: number
  /** Where the list goes on after a page that had no room for all its records; 0: `page` says where. */
  offset: number
}

const NEWEST_FIRST = { sort: 'createdAt', order: 'desc' } as const

/** Throws 400 for an unknown operator. */
export function parseRecordsQuery(url: string): RecordsQuery {
  const query = new URL(url).searchParams
  return {
    filters: parseFilters(query),
    sort: query.get('sort') || NEWEST_FIRST.sort,
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
    page: pageNumberOf(query.get('page')),
    offset: Math.min(Math.max(0, Math.trunc(Number(query.get('offset'))) || 0), Number.MAX_SAFE_INTEGER),
  }
}

/** The same filters and order, from the first record. */
export const fromStart = (query: RecordsQuery): RecordsQuery => ({ ...query, page: 1, offset: 0 })

/** Empty, or begins with `?`. Leaves out page 1 and the default order. */
export function recordsQueryText(
  { filters, sort, order, page, offset }: RecordsQuery,
  more: Readonly<Record<string, string>> = {},
): string {
  const isUsual = sort === NEWEST_FIRST.sort && order === NEWEST_FIRST.order
  const text = new URLSearchParams([
    ...filterPairs(filters),
    ...(isUsual ? [] : [...Object.entries({ sort, order })]),
    ...(page > 1 && offset === 0 ? [['page', String(page)]] : []),
    ...(offset > 0 ? [['offset', String(offset)]] : []),
    ...Object.entries(more),
  ]).toString()
  return text === '' ? '' : `?${text}`
}

/** The filter that the page's form adds: `field`, `op` and `value`. Undefined if none was sent. */
export function addedFilter(url: string): TextFilter | undefined {
  const query = new URL(url).searchParams
  const [field, value] = [query.get('field') ?? '', query.get('value') ?? '']
  const op = FILTER_OPS.find((one) => one === (query.get('op') ?? 'eq'))
  if (op === undefined) throw new AppError('invalid', 'Choose a comparison from the list.')
  if (field === '' || value === '') return undefined
  if (op === 'in') return { field, op, value: value.split(',').map((one) => one.trim()) }
  return { field, op, value: op === 'like' && !value.includes('%') ? `%${value}%` : value }
}

/** Whether the page's form was sent, with or without a filter. */
export const isAdding = (url: string): boolean => new URL(url).searchParams.has('field')
