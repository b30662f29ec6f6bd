import type { Db } from '../../db/open.ts'
import { readApart } from '../../db/read-apart.ts'
import { prepared } from '../../db/statements.ts'
import { inTurn, isLarge, noteSize } from './large-reads.ts'
import {
  findRecordAt,
  listMatchingIds,
  matchingIds,
  type RecordRow,
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
export type Read = { schemaId: string; where: Where; order: Order; window: Window }

/**
 * Gives `take` the rows in their order until it returns false. Only one is in memory at a time, however large they are: of
 * those that have to be sorted, or are read apart, the places are found first.
 */
export function takeRows(db: Db, read: Read, take: TakeRow): void | Promise<void> {
  const { schemaId, where, order, window } = read
  if (isLarge(db, schemaId)) return takeLarge(db, read, take)
  let characters = 0
  const counting: TakeRow = (row) => {
    characters += row.data.length
    return take(row)
  }
  const note = () => noteSize(db, schemaId, characters)
  if (isNear(read) || (!isIndexed(where) && isSmall(db, schemaId, where))) {
    takeRecordRows(db, recordRows(schemaId, where, order, window), counting)
    return note()
  }
  if (isInWindows(read)) return firstById(db, read, counting).then(note)
  const found = readAll<Place>(db, schemaId, where, recordPlaces(schemaId, where, order, window))
  if (found instanceof Promise)
    return found.then((places) => takePlaces(db, schemaId, places, counting)).then(note)
  takePlaces(db, schemaId, found, counting)
  note()
}

/** The same of a schema with large records, some at a time; others are served in between. */
export async function* largeRows(db: Db, read: Read): AsyncGenerator<RecordRow> {
  for await (const places of placesOf(db, read))
    for (let at = 0; at < places.length; ) {
      const rows = await inTurn(read.schemaId, () => someAt(db, read.schemaId, places, at))
      at += rows.length
      for (const row of rows) if (row !== null) yield row
    }
}

async function takeLarge(db: Db, read: Read, take: TakeRow): Promise<void> {
  for await (const row of largeRows(db, read)) if (!take(row)) return
}

/** The rows at the next places, at least one; null where one was deleted. */
function someAt(db: Db, schemaId: string, places: readonly Place[], from: number): (RecordRow | null)[] {
  const rows: (RecordRow | null)[] = []
  for (let characters = 0; characters < AT_ONCE && from + rows.length < places.length; ) {
    const row = findRecordAt(db, schemaId, places[from + rows.length]?.seq ?? 0)
    characters += row?.data.length ?? 0
    rows.push(row)
  }
  return rows
}

async function* placesOf(db: Db, read: Read): AsyncGenerator<Place[]> {
  const { schemaId, where, order, window } = read
  if (!isInWindows(read) || isNear(read)) {
    const all = recordPlaces(schemaId, where, order, window)
    yield isNear(read)
      ? prepared<Place>(db, all.sql).all(...all.values)
      : await readAll(db, schemaId, where, all)
    return
  }
  let left = window.limit
  for await (const part of windowsOf(db, schemaId, where, order.direction)) {
    const { sql, values } = recordPlaces(schemaId, part, order, { limit: left, offset: 0 })
    const places = prepared<Place>(db, sql).all(...values)
    yield places
    left -= places.length
    if (left <= 0) return
  }
}

type Place = { seq: number }
/** Characters of the rows that are read together. */
const AT_ONCE = 512 * 1024

/** The newest or oldest of all. */
const isNear = ({ where, order, window }: Read): boolean =>
  order.key.sql === 'id' && where.reach === 'all' && window.offset + window.limit <= WINDOW

const isIndexed = ({ reach, effort }: Where): boolean => reach === 'index' && effort === 1

const isInWindows = ({ where, order, window }: Read): boolean =>
  order.key.sql === 'id' && window.offset === 0 && where.effort === 1 && !isIndexed(where)

function takePlaces(db: Db, schemaId: string, places: readonly Place[], take: TakeRow): void {
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
