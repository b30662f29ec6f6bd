import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes the keys of a project. */
export function deleteKeysOf(db: Db, projectId: string): void {
  prepared(db, 'DELETE FROM api_keys WHERE project_id = ?').run(projectId)
}
