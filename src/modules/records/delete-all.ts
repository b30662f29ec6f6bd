import type { Db } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'
import { noteChange } from './changes.ts'

/** Deletes the records of a schema with their unique values. */
export function deleteRecordsOf(db: Db, schemaId: string): void {
  noteChange(db, schemaId)
  runInPieces(
    db,
    `DELETE FROM records WHERE seq IN
       (SELECT seq FROM records WHERE schema_id = ? ORDER BY id DESC LIMIT ?)`,
    schemaId,
  )
}
