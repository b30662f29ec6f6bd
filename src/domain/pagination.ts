import { AppError, type ErrorDetail } from './errors.ts'

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

type SortOrder = 'asc' | 'desc'

/** The raw query parameters; an empty one counts as absent. */
export type PaginationQuery = {
  page?: string | number | undefined
  limit?: string | number | undefined
  sort?: string | undefined
  order?: string | undefined
}

type PaginationOptions<Field extends string> = {
  sortable: readonly Field[]
  defaultSort: Field
  defaultOrder: SortOrder
}

/** `page` starts at 1; `offset` is the number of rows before it, at most 2^53. */
export type Page<Field extends string = string> = {
  page: number
  limit: number
  offset: number
  sort: Field
  order: SortOrder
}

/** The envelope of every paginated list. spec: Limits. */
export type Paginated<T> = {
  data: T[]
  pagination: { page: number; limit: number; total: number; pages: number }
}

/** Throws `invalid` with a detail for each invalid parameter. spec: Limits, contract §2. */
export function parsePagination<Field extends string>(
  query: PaginationQuery,
  options: PaginationOptions<Field>,
): Page<Field> {
  const { sortable, defaultSort, defaultOrder } = options
  const page = positiveInteger(query.page, 1)
  const limit = positiveInteger(query.limit, DEFAULT_LIMIT)
  const sort = query.sort ? sortable.find((field) => field === query.sort) : defaultSort
  const order = query.order ? sortOrder(query.order) : defaultOrder

  const details: ErrorDetail[] = []
  if (page === null) details.push({ path: 'page', message: 'page must be a whole number from 1' })
  if (limit === null || limit > MAX_LIMIT)
    details.push({ path: 'limit', message: `limit must be a whole number from 1 to ${MAX_LIMIT}` })
  if (sort === undefined)
    details.push({ path: 'sort', message: `sort must be one of ${sortable.join(', ')}` })
  if (order === null) details.push({ path: 'order', message: 'order must be asc or desc' })

  if (page === null || limit === null || sort === undefined || order === null || details.length > 0)
    throw new AppError('invalid', details.map((detail) => detail.message).join('; '), { details })
  return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER), sort, order }
}

/** `total` is the number of all rows; no rows means no pages. */
export function paginated<T>(data: T[], total: number, page: Pick<Page, 'page' | 'limit'>): Paginated<T> {
  const pages = Math.ceil(total / page.limit)
  return { data, pagination: { page: page.page, limit: page.limit, total, pages } }
}

/** One page of rows that are all known. There is always a first page, and a page after the last is the last. */
export function pageOfRows<T>(
  rows: readonly T[],
  asked: number,
  limit: number,
): { rows: T[]; page: number; pages: number; total: number } {
  const pages = Math.max(1, Math.ceil(rows.length / limit))
  const page = Math.min(pages, asked)
  return { rows: rows.slice((page - 1) * limit, page * limit), page, pages, total: rows.length }
}

/** Null if it is not a positive integer. */
function positiveInteger(value: string | number | undefined, fallback: number): number | null {
  if (value === undefined || value === '') return fallback
  const text = String(value)
  const number = /^\d+$/.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : 0
  return number >= 1 ? number : null
}

function sortOrder(value: string): SortOrder | null {
  return value === 'asc' || value === 'desc' ? value : null
}
