import type { Paginated } from '../../src/domain/pagination.ts'
import { pageNumberOf } from './form.ts'
import { queryOf } from './page-request.ts'

const PER_PAGE = 50
/** More than any list has; larger numbers are not whole ones in the database. */
const MAX_PAGES = 1e9

/**
 * The page of a list that the query parameter `name` asks for. If there are not that many pages, the last one: its only
 * row may just have been removed.
 */
export function pageOf<Row>(
  request: Request,
  name: string,
  read: (asked: { page: number; limit: number }) => Paginated<Row>,
): Paginated<Row> {
  const page = Math.min(MAX_PAGES, pageNumberOf(queryOf(request, name)))
  const found = read({ page, limit: PER_PAGE })
  const { pages } = found.pagination
  return page > pages && pages > 0 ? read({ page: pages, limit: PER_PAGE }) : found
}
