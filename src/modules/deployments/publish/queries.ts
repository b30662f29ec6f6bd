import { and, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { deployments } from '../../../db/schema.ts'
import type { DeploymentRow } from '../queries.ts'

/**
 * The writes of an upload. Statements that run once per file are prepared and run on the raw handle, inside the
 * service's open transaction: through drizzle, thousands of files would take several times as long.
 */

/** For contents that were sent but are not used: the collector frees them. */
export function insertCandidates(db: Db, sha256s: Iterable<string>): void {
  const insert = db.sqlite.query<unknown, [string]>('INSERT OR REPLACE INTO blob_candidates VALUES (?, NULL)')
  for (const sha256 of sha256s) insert.run(sha256)
}

export function findDeploymentBySha(
  db: DbOrTx,
  projectId: string,
  commitSha: string,
): DeploymentRow | undefined {
  return db
    .select()
    .from(deployments)
    .where(and(eq(deployments.projectId, projectId), eq(deployments.commitSha, commitSha)))
    .get()
}

export function insertDeployment(db: DbOrTx, deployment: DeploymentRow): void {
  db.insert(deployments).values(deployment).run()
}

export type DeploymentPatch = Partial<
  Pick<
    DeploymentRow,
    | 'branch'
    | 'description'
    | 'workflowName'
    | 'workflowRunId'
    | 'committedAt'
    | 'tags'
    | 'basePath'
    | 'preview'
  >
>

export function updateDeployment(db: DbOrTx, id: string, patch: DeploymentPatch): void {
  if (Object.keys(patch).length > 0) db.update(deployments).set(patch).where(eq(deployments.id, id)).run()
}

type PathRow = { id: string; path: string; sha256: string }

export function listPaths(db: Db, deploymentId: string): PathRow[] {
  return db.sqlite
    .query<PathRow, [string]>(
      'SELECT a.id, a.path, b.sha256 FROM assets a JOIN blobs b ON b.id = a.blob_id WHERE a.deployment_id = ?',
    )
    .all(deploymentId)
}

export type NewAsset = { id: string; path: string; sha256: string; sizeBytes: number }

export function insertAssets(db: Db, deploymentId: string, assets: readonly NewAsset[]): void {
  const insert = db.sqlite.query<unknown, [string, string, string, string, number]>(
    `INSERT INTO assets (id, deployment_id, path, blob_id, size_bytes)
     VALUES (?, ?, ?, (SELECT id FROM blobs WHERE sha256 = ?), ?)`,
  )
  for (const { id, path, sha256, sizeBytes } of assets) insert.run(id, deploymentId, path, sha256, sizeBytes)
}

/** A path whose content changes keeps its row and id. */
export function replaceContents(db: Db, assets: readonly NewAsset[]): void {
  const update = db.sqlite.query<unknown, [string, number, string]>(
    'UPDATE assets SET blob_id = (SELECT id FROM blobs WHERE sha256 = ?), size_bytes = ? WHERE id = ?',
  )
  for (const { id, sha256, sizeBytes } of assets) update.run(sha256, sizeBytes, id)
}
