import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { noteChange } from './changes.ts'
import type { Order, Sql } from './where.ts'

/** `data` is the JSON of the schema's fields. */
export type RecordRow = { id: string; data: string; createdAt: number; updatedAt: number }

const COLUMNS = 'id, data, created_at AS createdAt, updated_at AS updatedAt'

export function insertRecord(db: Db, schemaId: string, row: RecordRow): void {
  noteChange(db, schemaId)
  prepared(
    db,
    'INSERT INTO records (schema_id, id, data, created_at, updated_at) VALUES (?, ?, ?, ?, ?)',
  ).run(schemaId, row.id, row.data, row.createdAt, row.updatedAt)
}

/** Throws a unique violation when another record has the value. `value` is JSON. */
export function insertUnique(db: Db, schemaId: string, field: string, value: string, recordId: string): void {
  prepared(db, 'INSERT INTO record_uniques (schema_id, field, value, record_id) VALUES (?, ?, ?, ?)').run(
    schemaId,
    field,
    value,
    recordId,
  )
}

export function deleteUnique(db: Db, schemaId: string, field: string, recordId: string): void {
  prepared(db, 'DELETE FROM record_uniques WHERE schema_id = ? AND record_id = ? AND field = ?').run(
    schemaId,
    recordId,
    field,
  )
}

export function findRecordRow(db: Db, schemaId: string, id: string): RecordRow | null {
  return prepared<RecordRow>(db, `SELECT ${COLUMNS} FROM records WHERE schema_id = ? AND id = ?`).get(
    schemaId,
    id,
  )
}

export function updateRecordRow(
  db: Db,
  schemaId: string,
  row: Pick<RecordRow, 'id' | 'data' | 'updatedAt'>,
): void {
  noteChange(db, schemaId)
  prepared(db, 'UPDATE records SET data = ?, updated_at = ? WHERE schema_id = ? AND id = ?').run(
    row.data,
    row.updatedAt,
    schemaId,
    row.id,
  )
}

export function deleteRecordRow(db: Db, schemaId: string, id: string): boolean {
  noteChange(db, schemaId)
  return prepared(db, 'DELETE FROM records WHERE schema_id = ? AND id = ?').run(schemaId, id).changes > 0
}

/** Ids of the matching records, newest first. */
export const matchingIds = (schemaId: string, where: Sql): Sql => ({
  sql: `SELECT id FROM records WHERE schema_id = ? AND ${where.sql} ORDER BY id DESC`,
  values: [schemaId, ...where.values],
})

export function listMatchingIds(db: Db, schemaId: string, where: Sql): string[] {
  const { sql, values } = matchingIds(schemaId, where)
  return prepared<{ id: string }>(db, sql)
    .all(...values)
    .map(({ id }) => id)
}

export type Window = { limit: number; offset: number }

/** Sorts only what it sorts by, and takes the records themselves afterwards: a deep page would sort all their fields. */
export function recordRows(
  schemaId: string,
  where: Sql,
  { key, direction }: Order,
  { limit, offset }: Window,
): Sql {
  const from = `FROM records WHERE schema_id = ? AND ${where.sql}`
  const found = [schemaId, ...where.values]
  if (key.sql === 'id')
    return {
      sql: `SELECT ${COLUMNS} ${from} ORDER BY id ${direction} LIMIT ? OFFSET ?`,
      values: [...found, limit, offset],
    }
  return {
    sql: `SELECT ${COLUMNS} FROM records
          JOIN (SELECT seq AS place, ${key.sql} AS key ${from} ORDER BY key ${direction}, id DESC LIMIT ? OFFSET ?)
          ON seq = place ORDER BY key ${direction}, id DESC`,
    values: [...key.values, ...found, limit, offset],
  }
}

/** The places of the records that `recordRows` finds, without their fields. */
export function recordPlaces(
  schemaId: string,
  where: Sql,
  { key, direction }: Order,
  { limit, offset }: Window,
): Sql {
  const second = key.sql === 'id' ? '' : ', id DESC'
  return {
    sql: `SELECT seq FROM records WHERE schema_id = ? AND ${where.sql}
          ORDER BY ${key.sql} ${direction}${second} LIMIT ? OFFSET ?`,
    values: [schemaId, ...where.values, ...key.values, limit, offset],
  }
}

/** Null when it was deleted. */
export const findRecordAt = (db: Db, schemaId: string, seq: number): RecordRow | null =>
  prepared<RecordRow>(db, `SELECT ${COLUMNS} FROM records WHERE seq = ? AND schema_id = ?`).get(seq, schemaId)

/** Reads one record after the other until `take` returns false. Returns what it returned last. */
export function takeRecordRows(db: Db, { sql, values }: Sql, take: TakeRow): boolean {
  for (const row of prepared<RecordRow>(db, sql).iterate(...values)) if (!take(row)) return false
  return true
}

/** Gets one record after the other; false: no more. */
export type TakeRow = (row: RecordRow) => boolean

export function listRecordRows(
  db: Db,
  schemaId: string,
  where: Sql,
  order: Order,
  window: Window,
): RecordRow[] {
  const { sql, values } = recordRows(schemaId, where, order, window)
  return prepared<RecordRow>(db, sql).all(...values)
}

/** The last id of the next `size` records after an id, in the order of ids. Undefined if there are fewer. */
export function lastOfWindow(
  db: Db,
  schemaId: string,
  direction: Order['direction'],
  after: string,
  size: number,
): string | undefined {
  const beyond = direction === 'ASC' ? '>' : '<'
  return prepared<{ id: string }>(
    db,
    `SELECT id FROM records WHERE schema_id = ? AND id ${beyond} ? ORDER BY id ${direction} LIMIT 1 OFFSET ?`,
  ).get(schemaId, after, size - 1)?.id
}

/** The bytes of the records that `where` selects: their lengths are stored, so they are not read for it. */
export function bytesOfRecords(db: Db, schemaId: string, where: Sql): number {
  const sql = `SELECT total(octet_length(data)) AS bytes FROM records WHERE schema_id = ? AND ${where.sql}`
  return prepared<{ bytes: number }>(db, sql).get(schemaId, ...where.values)?.bytes ?? 0
}

export const recordCount = (schemaId: string, where: Sql): Sql => ({
  sql: `SELECT count(*) AS n FROM records WHERE schema_id = ? AND ${where.sql}`,
  values: [schemaId, ...where.values],
})

/** Counts the newest `max` records and the bytes of their fields. */
export function sampleOf(db: Db, schemaId: string, max: number): { records: number; bytes: number } {
  return (
    prepared<{ records: number; bytes: number }>(
      db,
      `SELECT count(*) AS records, coalesce(sum(octet_length(data)), 0) AS bytes
       FROM (SELECT data FROM records WHERE schema_id = ? ORDER BY id DESC LIMIT ?)`,
    ).get(schemaId, max) ?? { records: 0, bytes: 0 }
  )
}

/** What SQLite returns for a field of a record. */
type Value = number | string | null
export type AggregateRow = { value: Value; grouped: Value }

/** More would be made, kept and sent in one piece, on the thread that serves every site. */
export const MAX_GROUPS = 10_000

/** `measure` is an aggregate over one column, or `count(*)`. With a group too many if there are more than `MAX_GROUPS`. */
export function recordAggregate(schemaId: string, where: Sql, measure: Sql, group: Sql | null): Sql {
  const columns = `${measure.sql} AS value, ${group?.sql ?? 'NULL'} AS grouped`
  const tail = group === null ? '' : ` GROUP BY 2 ORDER BY 2 LIMIT ${MAX_GROUPS + 1}`
  return {
    sql: `SELECT ${columns} FROM records WHERE schema_id = ? AND ${where.sql}${tail}`,
    values: [...measure.values, ...(group?.values ?? []), schemaId, ...where.values],
  }
}

export const hasRecords = (db: Db, schemaId: string): boolean =>
  prepared(db, 'SELECT 1 FROM records WHERE schema_id = ? LIMIT 1').get(schemaId) !== null
