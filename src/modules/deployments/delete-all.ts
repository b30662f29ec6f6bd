import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { deleteDeploymentRow } from './queries.ts'

/** Deletes the deployments of a project with their files. No alias may point at one any more. */
export function deleteDeploymentsOf(db: Db, projectId: string): void {
  const deployments = prepared<{ id: string }>(db, 'SELECT id FROM deployments WHERE project_id = ?')
  for (const { id } of deployments.all(projectId)) deleteDeploymentRow(db, id)
}
