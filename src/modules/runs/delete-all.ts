import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes up to `limit` runs of a project; returns false if there were none. */
export function deleteSomeRunsOf(db: Db, projectId: string, limit: number): boolean {
  return (
    prepared(
      db,
      `DELETE FROM pipeline_runs WHERE project_id = ?1 AND id IN
         (SELECT id FROM pipeline_runs WHERE project_id = ?1 LIMIT ?2)`,
    ).run(projectId, limit).changes > 0
  )
}
