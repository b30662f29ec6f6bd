import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes the traffic splits of a project's domains. */
export function deleteTrafficOf(db: Db, projectId: string): void {
  prepared(db, 'DELETE FROM traffic WHERE domain_id IN (SELECT id FROM domains WHERE project_id = ?)').run(
    projectId,
  )
}
