import type { Db } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'

/** Deletes the runs of a project. */
export function deleteRunsOf(db: Db, projectId: string): void {
  runInPieces(
    db,
    `DELETE FROM pipeline_runs WHERE project_id = ?1 AND id IN
       (SELECT id FROM pipeline_runs WHERE project_id = ?1 LIMIT ?2)`,
    projectId,
  )
}
