import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteSomeRecordsOf } from '../records/delete-all.ts'
import { deleteSchemaRow } from './queries.ts'

/** Deletes up to `limit` records of a project, or a schema without any; returns false if there was neither. */
export function deleteSomeSchemasOf(db: Db, projectId: string, limit: number): boolean {
  const schema = prepared<{ id: string }>(db, 'SELECT id FROM schemas WHERE project_id = ? LIMIT 1')
  const found = schema.get(projectId)
  if (found === null) return false
  if (!deleteSomeRecordsOf(db, found.id, limit)) deleteSchemaRow(db, found.id)
  return true
}
