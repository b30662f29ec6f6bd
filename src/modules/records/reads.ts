import type { Db } from '../../db/open.ts'
import { readApart } from '../../db/read-apart.ts'
import { prepared } from '../../db/statements.ts'
import {
  findRecordAt,
  listMatchingIds,
  matchingIds,
  recordCount,
  recordPlaces,
  recordRows,
  type TakeRow,
  takeRecordRows,
  type Window,
} from './queries.ts'
import { isSmall, WINDOW, windowsOf } from './scan.ts'
import type { Order, Sql, Where } from './where.ts'

/**
 * Reads of records that may have to look at all of a schema. A small schema is read at once. Of a large one the newest or
 * oldest are read in windows (`windowsOf`); whatever may need all of it is read apart (`readApart`), and so is `like`: with a
 * long pattern a single record may take a second.
 */

/** What is read: some of the matching records of a schema, in an order. */
type Read = { schemaId: string; where: Where; order: Order; window: Window }

/**
 * Gives `take` the rows in their order until it returns false. Only one is in memory at a time, however large they are: of
 * those that have to be sorted, or are read apart, the places are found first.
 */
export function takeRows(db: Db, read: Read, take: TakeRow): void | Promise<void> {
  const { schemaId, where, order, window } = read
  const isById = order.key.sql === 'id'
  const isNear = isById && where.reach === 'all' && window.offset + window.limit <= WINDOW
  const isIndexed = where.reach === 'index' && where.effort === 1
  if (isNear || (!isIndexed && isSmall(db, schemaId, where))) {
    takeRecordRows(db, recordRows(schemaId, where, order, window), take)
    return
  }
  const isInWindows = isById && window.offset === 0 && where.effort === 1
  if (isInWindows && !isIndexed) return firstById(db, read, take)
  const found = readAll<{ seq: number }>(db, schemaId, where, recordPlaces(schemaId, where, order, window))
  if (found instanceof Promise) return found.then((places) => takePlaces(db, schemaId, places, take))
  takePlaces(db, schemaId, found, take)
}

function takePlaces(db: Db, schemaId: string, places: readonly { seq: number }[], take: TakeRow): void {
  for (const { seq } of places) {
    const row = findRecordAt(db, schemaId, seq)
    if (row !== null && !take(row)) return
  }
}

/** Distinguishes what `takeRows` reads of one schema. */
export function nameOfRead(where: Sql, { key, direction }: Order, { limit, offset }: Window): string {
  const values = JSON.stringify([limit, offset, ...where.values, ...key.values])
  return `${where.sql} ${key.sql} ${direction} ${values}`
}

export async function readCount(db: Db, schemaId: string, where: Where): Promise<number> {
  const [found] = await readAll<{ n: number }>(db, schemaId, where, recordCount(schemaId, where))
  return found?.n ?? 0
}

/** Ids of the matching records, newest first. */
export async function readIds(db: Db, schemaId: string, where: Where): Promise<string[]> {
  if (where.effort > 1) {
    const rows = await readAll<{ id: string }>(db, schemaId, where, matchingIds(schemaId, where))
    return rows.map(({ id }) => id)
  }
  const ids: string[] = []
  for await (const part of windowsOf(db, schemaId, where))
    for (const id of listMatchingIds(db, schemaId, part)) ids.push(id)
  return ids
}

/** Whether one statement on the server's own thread is quick enough. */
export const isReadAtOnce = (db: Db, schemaId: string, where: Where): boolean =>
  (where.reach === 'index' && where.effort === 1) || isSmall(db, schemaId, where)

/** The rows of a statement over the records for which `where` holds. */
export const readAll = <Row>(
  db: Db,
  schemaId: string,
  where: Where,
  { sql, values }: Sql,
): Row[] | Promise<Row[]> =>
  isReadAtOnce(db, schemaId, where)
    ? prepared<Row>(db, sql).all(...values)
    : readApart<Row>(db, schemaId, sql, values)

/** The first of the newest or oldest. Ends as soon as there are enough, which is mostly in the first window. */
async function firstById(db: Db, { schemaId, where, order, window }: Read, take: TakeRow): Promise<void> {
  let left = window.limit
  const count: TakeRow = (row) => {
    left -= 1
    return take(row)
  }
  for await (const part of windowsOf(db, schemaId, where, order.direction)) {
    const rest = recordRows(schemaId, part, order, { limit: left, offset: 0 })
    if (!takeRecordRows(db, rest, count) || left <= 0) return
  }
}

export const among = ({ sql, values }: Sql, ids: readonly string[]): Sql => ({
  sql: `${sql} AND id IN (SELECT value FROM json_each(?))`,
  values: [...values, JSON.stringify(ids)],
})
