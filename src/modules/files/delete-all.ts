import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes up to `limit` files of a project; returns false if there were none. */
export const deleteSomeFilesOf = (db: Db, projectId: string, limit: number): boolean =>
  prepared(
    db,
    'DELETE FROM project_files WHERE id IN (SELECT id FROM project_files WHERE project_id = ? LIMIT ?)',
  ).run(projectId, limit).changes > 0
