import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** Deletes up to `limit` aliases of a project, after their history; returns false if there were none. */
export function deleteSomeAliasesOf(db: Db, projectId: string, limit: number): boolean {
  const history = prepared(
    db,
    `DELETE FROM alias_history WHERE id IN
       (SELECT h.id FROM aliases a JOIN alias_history h ON h.alias_id = a.id WHERE a.project_id = ? LIMIT ?)`,
  )
  const aliases = prepared(
    db,
    'DELETE FROM aliases WHERE id IN (SELECT id FROM aliases WHERE project_id = ? LIMIT ?)',
  )
  return [history, aliases].some((statement) => statement.run(projectId, limit).changes > 0)
}
