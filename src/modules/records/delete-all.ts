import type { Db } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'
import { prepared } from '../../db/statements.ts'
import { noteChange } from './changes.ts'

const NEWEST_OF_SCHEMA = `DELETE FROM records WHERE seq IN
  (SELECT seq FROM records WHERE schema_id = ? ORDER BY id DESC LIMIT ?)`

/** Deletes the records of a schema with their unique values. */
export function deleteRecordsOf(db: Db, schemaId: string): void {
  noteChange(db, schemaId)
  runInPieces(db, NEWEST_OF_SCHEMA, schemaId)
}

/** Deletes up to `limit` of them; returns false if there were none. */
export function deleteSomeRecordsOf(db: Db, schemaId: string, limit: number): boolean {
  noteChange(db, schemaId)
  return prepared(db, NEWEST_OF_SCHEMA).run(schemaId, limit).changes > 0
}
