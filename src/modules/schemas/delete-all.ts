import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteSchemaRow } from './queries.ts'

/** Deletes the schemas of a project with their records. */
export function deleteSchemasOf(db: Db, projectId: string): void {
  const schemas = prepared<{ id: string }>(db, 'SELECT id FROM schemas WHERE project_id = ?').all(projectId)
  for (const { id } of schemas) deleteSchemaRow(db, id)
}
