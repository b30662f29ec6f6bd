import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteAliasRow } from './queries.ts'

/** Deletes the aliases of a project with their history. */
export function deleteAliasesOf(db: Db, projectId: string): void {
  const aliases = prepared<{ id: string }>(db, 'SELECT id FROM aliases WHERE project_id = ?').all(projectId)
  for (const { id } of aliases) deleteAliasRow(db, id)
}
