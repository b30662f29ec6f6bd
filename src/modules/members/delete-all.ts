import type { Db } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'

/** Deletes the members of a project with their roles, except the owner, who stays as long as the project. */
export function deleteMembersOf(db: Db, projectId: string): void {
  runInPieces(
    db,
    `DELETE FROM memberships WHERE project_id = ?1 AND user_id IN
       (SELECT user_id FROM memberships WHERE project_id = ?1 AND user_id IS NOT
         (SELECT user_id FROM permissions WHERE project_id = ?1 AND role = 'owner') LIMIT ?2)`,
    projectId,
  )
  runInPieces(
    db,
    `DELETE FROM permissions WHERE project_id = ?1 AND user_id IN
       (SELECT user_id FROM permissions WHERE project_id = ?1 AND role <> 'owner' LIMIT ?2)`,
    projectId,
  )
}
