import type { Db } from '../../db/open.ts'
import { runInPieces } from '../../db/pieces.ts'

/** Deletes the invitations to a project. */
export function deleteInvitationsOf(db: Db, projectId: string): void {
  runInPieces(
    db,
    'DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE project_id = ? LIMIT ?)',
    projectId,
  )
}
