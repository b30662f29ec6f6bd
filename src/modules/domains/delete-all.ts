import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteTrafficOf } from '../traffic/delete-all.ts'

/** Deletes the domains of a project with their traffic splits. */
export function deleteDomainsOf(db: Db, projectId: string): void {
  deleteTrafficOf(db, projectId)
  prepared(db, 'DELETE FROM domains WHERE project_id = ?').run(projectId)
}
