import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes up to `limit` invitations to a project; returns false if there were none. */
export function deleteSomeInvitationsOf(db: Db, projectId: string, limit: number): boolean {
  return (
    prepared(
      db,
      'DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE project_id = ? LIMIT ?)',
    ).run(projectId, limit).changes > 0
  )
}
