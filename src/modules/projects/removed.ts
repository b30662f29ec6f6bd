import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Whether the project is there. The rows of a deleted one are deleted in steps, and must not be found meanwhile. */
export const isProjectThere = (db: Db, id: string): boolean =>
  prepared(db, 'SELECT 1 FROM projects WHERE id = ?').get(id) !== null
