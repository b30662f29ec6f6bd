import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { Sql } from './where.ts'

/** `data` is the JSON of the schema's fields. */
export type RecordRow = { id: string; data: string; createdAt: number; updatedAt: number }

const COLUMNS = 'id, data, created_at AS createdAt, updated_at AS updatedAt'

export function insertRecord(db: Db, schemaId: string, row: RecordRow): void {
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
  prepared(db, 'UPDATE records SET data = ?, updated_at = ? WHERE schema_id = ? AND id = ?').run(
    row.data,
    row.updatedAt,
    schemaId,
    row.id,
  )
}

export function deleteRecordRow(db: Db, schemaId: string, id: string): boolean {
  return prepared(db, 'DELETE FROM records WHERE schema_id = ? AND id = ?').run(schemaId, id).changes > 0
}

/** Ids of the records that match, the newest first. */
export function listMatchingIds(db: Db, schemaId: string, where: Sql): string[] {
  return prepared<{ id: string }>(
    db,
    `SELECT id FROM records WHERE schema_id = ? AND ${where.sql} ORDER BY id DESC`,
  )
    .all(schemaId, ...where.values)
    .map(({ id }) => id)
}

export type Window = { limit: number; offset: number }

/** `order`: the column and its direction; records that are equal in it come newest first. */
export function listRecordRows(
  db: Db,
  schemaId: string,
  where: Sql,
  order: Sql | null,
  { limit, offset }: Window,
): RecordRow[] {
  const by = order === null ? 'id DESC' : `${order.sql}, id DESC`
  return prepared<RecordRow>(
    db,
    `SELECT ${COLUMNS} FROM records WHERE schema_id = ? AND ${where.sql} ORDER BY ${by} LIMIT ? OFFSET ?`,
  ).all(schemaId, ...where.values, ...(order?.values ?? []), limit, offset)
}

export function countRecords(db: Db, schemaId: string, where: Sql): number {
  return (
    prepared<{ n: number }>(db, `SELECT count(*) AS n FROM records WHERE schema_id = ? AND ${where.sql}`).get(
      schemaId,
      ...where.values,
    )?.n ?? 0
  )
}

/** Of the newest `most` records: how many they are, and the bytes of their fields. */
export function sampleOf(db: Db, schemaId: string, most: number): { records: number; bytes: number } {
  return (
    prepared<{ records: number; bytes: number }>(
      db,
      `SELECT count(*) AS records, coalesce(sum(octet_length(data)), 0) AS bytes
       FROM (SELECT data FROM records WHERE schema_id = ? ORDER BY id DESC LIMIT ?)`,
    ).get(schemaId, most) ?? { records: 0, bytes: 0 }
  )
}

/** A page of an export: older than `before`, the newest first. */
export function listRecordsBefore(
  db: Db,
  schemaId: string,
  where: Sql,
  before: string,
  limit: number,
): RecordRow[] {
  return prepared<RecordRow>(
    db,
    `SELECT ${COLUMNS} FROM records WHERE schema_id = ? AND ${where.sql} AND id < ? ORDER BY id DESC LIMIT ?`,
  ).all(schemaId, ...where.values, before, limit)
}

/** `measure` is an aggregate over one column, or `count(*)`. */
export function aggregateRows(
  db: Db,
  schemaId: string,
  where: Sql,
  measure: Sql,
  group: Sql | null,
): { value: number | string | null; grouped: number | string | null }[] {
  const columns = `${measure.sql} AS value, ${group === null ? 'NULL' : group.sql} AS grouped`
  const tail = group === null ? '' : ' GROUP BY 2 ORDER BY 2'
  return prepared<{ value: number | string | null; grouped: number | string | null }>(
    db,
    `SELECT ${columns} FROM records WHERE schema_id = ? AND ${where.sql}${tail}`,
  ).all(...measure.values, ...(group?.values ?? []), schemaId, ...where.values)
}

export const hasRecords = (db: Db, schemaId: string): boolean =>
  prepared(db, 'SELECT 1 FROM records WHERE schema_id = ? LIMIT 1').get(schemaId) !== null

/** Path of a field in a record's JSON. Field names hold nothing that would need to be escaped in it. */
const pathOf = (field: string): string => `$."${field}"`

/** Gives all records a new field. `json` is its value. */
export function addFieldToRecords(db: Db, schemaId: string, field: string, json: string): void {
  prepared(db, 'UPDATE records SET data = json_insert(data, ?, json(?)) WHERE schema_id = ?').run(
    pathOf(field),
    json,
    schemaId,
  )
}

export function removeFieldFromRecords(db: Db, schemaId: string, field: string): void {
  prepared(db, 'UPDATE records SET data = json_remove(data, ?) WHERE schema_id = ?').run(
    pathOf(field),
    schemaId,
  )
}

/** Throws a unique violation when two records have the same value. */
export function insertUniquesOf(db: Db, schemaId: string, field: string): void {
  prepared(
    db,
    `INSERT INTO record_uniques (schema_id, field, value, record_id)
       SELECT schema_id, ?1, data -> ?2, id FROM records WHERE schema_id = ?3 AND data ->> ?2 IS NOT NULL`,
  ).run(field, pathOf(field), schemaId)
}

export function deleteUniquesOf(db: Db, schemaId: string, field: string): void {
  prepared(db, 'DELETE FROM record_uniques WHERE schema_id = ? AND field = ?').run(schemaId, field)
}
