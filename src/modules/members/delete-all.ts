import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes the ownership of a project that is gone: an account that owns something cannot be deleted. */
export function deleteOwnerOf(db: Db, projectId: string): void {
  prepared(db, "DELETE FROM permissions WHERE project_id = ? AND role = 'owner'").run(projectId)
}

/** Deletes up to `limit` memberships or roles of a project that is gone; returns false if there were none. */
export function deleteSomeMembersOf(db: Db, projectId: string, limit: number): boolean {
  const deleteSome = (table: 'memberships' | 'permissions') =>
    prepared(
      db,
      `DELETE FROM ${table} WHERE project_id = ?1 AND user_id IN
         (SELECT user_id FROM ${table} WHERE project_id = ?1 LIMIT ?2)`,
    ).run(projectId, limit).changes > 0
  return deleteSome('memberships') || deleteSome('permissions')
}
