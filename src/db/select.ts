import { asc, count, desc, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteSelect, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Page } from '../domain/pagination.ts'
import type { DbOrTx } from './open.ts'

/** One page, ordered by the columns. The last column must be unique, so that no page repeats a row. */
export function inPage<Query extends SQLiteSelect>(
  query: Query,
  page: Pick<Page, 'order' | 'limit' | 'offset'>,
  ...columns: readonly SQLiteColumn[]
): Query {
  const direction = page.order === 'asc' ? asc : desc
  return query
    .orderBy(...columns.map((column) => direction(column)))
    .limit(page.limit)
    .offset(page.offset)
}

export const countRows = (db: DbOrTx, table: SQLiteTable, where: SQL | undefined): number =>
  db.select({ n: count() }).from(table).where(where).get()?.n ?? 0

/** An `IN` condition for any number of values: they are passed as one parameter. */
export const inList = (column: SQLiteColumn, values: readonly string[]): SQL =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
