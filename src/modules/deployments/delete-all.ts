import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteDeploymentRow, deleteSomeAssetsOf } from './queries.ts'

export function deleteDeployments(db: Db, ids: readonly string[]): void {
  for (const id of ids) deleteDeploymentRow(db, id)
}

/**
 * Deletes deployments of a project, until about `limit` of them and their files are gone; returns false if there were
 * none. No alias may point at one any more.
 */
export function deleteSomeDeploymentsOf(db: Db, projectId: string, limit: number): boolean {
  const deployments = prepared<{ id: string }>(db, 'SELECT id FROM deployments WHERE project_id = ? LIMIT ?')
  const found = deployments.all(projectId, limit)
  let left = limit
  for (const { id } of found) {
    left -= deleteSomeAssetsOf(db, id, left)
    if (left <= 0) break
    deleteDeploymentRow(db, id)
    left -= 1
  }
  return found.length > 0
}
