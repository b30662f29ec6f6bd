import type { Db } from '../../db/open.ts'
import { compareValues } from './compare.ts'
import {
  countRecords,
  listKeys,
  listMatchingIds,
  listRecordRows,
  type RecordKey,
  type RecordRow,
  type Window,
} from './queries.ts'
import { isSmall, WINDOW, windowsOf } from './scan.ts'
import { NEWEST_FIRST, type Order, type Sql, type Where } from './where.ts'

/**
 * Reads of records that may have to look at all of a schema. A small schema is read at once; a large one in windows, as
 * `windowsOf` describes.
 */

/** What is read: some of the matching records of a schema, in an order. */
type Read = { schemaId: string; where: Where; order: Order; window: Window }

export function readRows(db: Db, read: Read): RecordRow[] | Promise<RecordRow[]> {
  const { schemaId, where, order, window } = read
  const isById = order.key.sql === 'id'
  const isNear = isById && where.reach === 'all' && window.offset + window.limit <= WINDOW
  if (isNear || isReadAtOnce(db, schemaId, where)) return listRecordRows(db, schemaId, where, order, window)
  return isById ? rowsById(db, read) : rowsByKey(db, read)
}

/** Distinguishes what `readRows` reads of one schema. */
export function nameOfRead(where: Sql, { key, direction }: Order, { limit, offset }: Window): string {
  const values = JSON.stringify([limit, offset, ...where.values, ...key.values])
  return `${where.sql} ${key.sql} ${direction} ${values}`
}

export function readCount(db: Db, schemaId: string, where: Where): number | Promise<number> {
  return isReadAtOnce(db, schemaId, where)
    ? countRecords(db, schemaId, where)
    : countInWindows(db, schemaId, where)
}

/** Ids of the matching records, newest first. */
export async function readIds(db: Db, schemaId: string, where: Where): Promise<string[]> {
  const ids: string[] = []
  for await (const part of windowsOf(db, schemaId, where))
    for (const id of listMatchingIds(db, schemaId, part)) ids.push(id)
  return ids
}

export const isReadAtOnce = (db: Db, schemaId: string, where: Where): boolean =>
  where.reach === 'index' || isSmall(db, schemaId)

async function countInWindows(db: Db, schemaId: string, where: Where): Promise<number> {
  // Without a condition only the index is read, which is ten times as fast.
  const size = where.reach === 'all' ? WINDOW * 10 : WINDOW
  let count = 0
  for await (const part of windowsOf(db, schemaId, where, 'DESC', size))
    count += countRecords(db, schemaId, part)
  return count
}

/** Ends as soon as there are enough rows. */
async function rowsById(db: Db, { schemaId, where, order, window }: Read): Promise<RecordRow[]> {
  const { limit, offset } = window
  const rows: RecordRow[] = []
  let skip = offset
  for await (const part of windowsOf(db, schemaId, where, order.direction)) {
    const passed = skip === 0 ? 0 : countRecords(db, schemaId, part)
    if (skip > 0 && passed <= skip) {
      skip -= passed
      continue
    }
    const rest = { limit: limit - rows.length, offset: skip }
    rows.push(...listRecordRows(db, schemaId, part, order, rest))
    skip = 0
    if (rows.length >= limit) break
  }
  return rows
}

/** Keeps the first of the order while it reads on. A record that stops matching before the end is left out. */
async function rowsByKey(db: Db, { schemaId, where, order, window }: Read): Promise<RecordRow[]> {
  const { limit, offset } = window
  const max = offset + limit
  const compare = comparisonOf(order)
  let first: RecordKey[] = []
  for await (const part of windowsOf(db, schemaId, where))
    first = firstOfBoth(first, listKeys(db, schemaId, part, order, max), max, compare)
  const ids = first.slice(offset).map(({ id }) => id)
  const rows = listRecordRows(db, schemaId, among(where, ids), NEWEST_FIRST, { limit, offset: 0 })
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export const among = ({ sql, values }: Sql, ids: readonly string[]): Sql => ({
  sql: `${sql} AND id IN (SELECT value FROM json_each(?))`,
  values: [...values, JSON.stringify(ids)],
})

type Comparison = (a: RecordKey, b: RecordKey) => number

function comparisonOf({ direction }: Order): Comparison {
  const sign = direction === 'ASC' ? 1 : -1
  return (a, b) => sign * compareValues(a.key, b.key) || (a.id < b.id ? 1 : -1)
}

/** Merges two sorted lists, of which it keeps the first `max`. */
function firstOfBoth(a: RecordKey[], b: RecordKey[], max: number, compare: Comparison): RecordKey[] {
  const worst = a.at(-1)
  const best = b[0]
  if (best === undefined) return a
  if (worst === undefined) return b
  if (a.length >= max && compare(worst, best) < 0) return a
  const merged: RecordKey[] = []
  let i = 0
  let j = 0
  while (merged.length < max) {
    const [x, y] = [a[i], b[j]]
    const next = x !== undefined && (y === undefined || compare(x, y) < 0) ? x : y
    if (next === undefined) break
    if (next === x) i++
    else j++
    merged.push(next)
  }
  return merged
}
