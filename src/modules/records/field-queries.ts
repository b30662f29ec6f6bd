import type { Db } from '../../db/open.ts'
import { PIECE, runInPieces } from '../../db/pieces.ts'
import { prepared } from '../../db/statements.ts'
import { noteChange } from './changes.ts'

/** Path of a field in a record's JSON. Field names contain no characters that need escaping. */
const pathOf = (field: string): string => `$."${field}"`

/** Gives all records a new field. `json` is its value. */
export function addFieldToRecords(db: Db, schemaId: string, field: string, json: string): void {
  noteChange(db, schemaId)
  const add = prepared(
    db,
    'UPDATE records SET data = json_insert(data, ?, json(?)) WHERE schema_id = ? AND id > ? AND id <= ?',
  )
  forEachWindow(db, schemaId, (after, last) => add.run(pathOf(field), json, schemaId, after, last))
}

export function removeFieldFromRecords(db: Db, schemaId: string, field: string): void {
  noteChange(db, schemaId)
  const remove = prepared(
    db,
    'UPDATE records SET data = json_remove(data, ?) WHERE schema_id = ? AND id > ? AND id <= ?',
  )
  forEachWindow(db, schemaId, (after, last) => remove.run(pathOf(field), schemaId, after, last))
}

/** Throws a unique violation when two records have the same value. */
export function insertUniquesOf(db: Db, schemaId: string, field: string): void {
  const insert = prepared(
    db,
    `INSERT INTO record_uniques (schema_id, field, value, record_id)
       SELECT schema_id, ?1, data -> ?2, id FROM records
       WHERE schema_id = ?3 AND id > ?4 AND id <= ?5 AND data ->> ?2 IS NOT NULL`,
  )
  forEachWindow(db, schemaId, (after, last) => insert.run(field, pathOf(field), schemaId, after, last))
}

export function deleteUniquesOf(db: Db, schemaId: string, field: string): void {
  runInPieces(
    db,
    `DELETE FROM record_uniques WHERE schema_id = ?1 AND field = ?2 AND value IN
       (SELECT value FROM record_uniques WHERE schema_id = ?1 AND field = ?2 LIMIT ?3)`,
    schemaId,
    field,
  )
}

/** Calls `work` for all records of the schema, some at a time: those with ids greater than `after`, up to `last`. */
function forEachWindow(db: Db, schemaId: string, work: (after: string, last: string) => void): void {
  const lastAfter = prepared<{ last: string | null }>(
    db,
    `SELECT max(id) AS last FROM
       (SELECT id FROM records WHERE schema_id = ? AND id > ? ORDER BY id LIMIT ?)`,
  )
  let after = ''
  for (;;) {
    const last = lastAfter.get(schemaId, after, PIECE)?.last ?? null
    if (last === null) return
    work(after, last)
    after = last
  }
}
