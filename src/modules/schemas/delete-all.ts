import type { Db } from '../../db/open.ts'
import { deleteSchemaRow, listSchemaRows } from './queries.ts'

/** Deletes the schemas of a project with their records. */
export function deleteSchemasOf(db: Db, projectId: string): void {
  for (const { id } of listSchemaRows(db.orm, projectId)) deleteSchemaRow(db, id)
}
