import { and, eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { deployments } from '../../../db/schema.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'
import type { DeploymentRow } from '../queries.ts'

/**
 * What an upload writes. The statements that run once a file are prepared and run on the raw handle, inside the
 * transaction that the service has open on it: through drizzle, thousands of files would cost a multiple.
 */

/** Whether a content is stored; prepared once, as it is asked for each file of an upload. */
export function blobLookup(db: Db): (sha256: string) => boolean {
  const find = db.sqlite.query<unknown, [string]>('SELECT 1 FROM blobs WHERE sha256 = ?')
  return (sha256) => find.get(sha256) !== null
}

/** `variantsAt` null: its compressed forms are still to be made. A content that has a row keeps it. */
export function insertBlobs(db: Db, blobs: readonly (StoredBlob & { variantsAt: number | null })[]): void {
  const insert = db.sqlite.query<unknown, [string, number, string | null, number, number | null]>(
    'INSERT OR IGNORE INTO blobs (sha256, size_bytes, pack, offset, variants_at) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { sha256, sizeBytes, pack, offset, variantsAt } of blobs)
    insert.run(sha256, sizeBytes, pack, offset, variantsAt)
}

/** For contents that came along and are used by nothing: the collector takes them back. */
export function insertCandidates(db: Db, sha256s: Iterable<string>): void {
  const insert = db.sqlite.query<unknown, [string]>('INSERT OR REPLACE INTO blob_candidates VALUES (?, NULL)')
  for (const sha256 of sha256s) insert.run(sha256)
}

/** Below this a compressed form saves nothing worth having. contract §6. */
export const MIN_COMPRESSED_BYTES = 1024

/** `variants_at` of a content that no path asked to have compressed. */
export const NEVER_COMPRESSED = 0

/** Contents that were stored under paths that are not compressed, and now have one that is. */
export function wantVariants(db: Db, sha256s: Iterable<string>): void {
  const update = db.sqlite.query<unknown, [string, number]>(
    'UPDATE blobs SET variants_at = NULL WHERE sha256 = ? AND variants_at = ?',
  )
  for (const sha256 of sha256s) update.run(sha256, NEVER_COMPRESSED)
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
    'branch' | 'description' | 'workflowName' | 'workflowRunId' | 'committedAt' | 'tags' | 'basePath'
  >
>

export function updateDeployment(db: DbOrTx, id: string, patch: DeploymentPatch): void {
  if (Object.keys(patch).length > 0) db.update(deployments).set(patch).where(eq(deployments.id, id)).run()
}

type PathRow = { id: string; path: string; sha256: string }

export function listPaths(db: Db, deploymentId: string): PathRow[] {
  return db.sqlite
    .query<PathRow, [string]>('SELECT id, path, sha256 FROM assets WHERE deployment_id = ?')
    .all(deploymentId)
}

export type NewAsset = { id: string; path: string; sha256: string; sizeBytes: number }

export function insertAssets(db: Db, deploymentId: string, assets: readonly NewAsset[]): void {
  const insert = db.sqlite.query<unknown, [string, string, string, string, number]>(
    'INSERT INTO assets (id, deployment_id, path, sha256, size_bytes) VALUES (?, ?, ?, ?, ?)',
  )
  for (const { id, path, sha256, sizeBytes } of assets) insert.run(id, deploymentId, path, sha256, sizeBytes)
}

/** A path that gets another content keeps its row and id. */
export function replaceContents(db: Db, assets: readonly NewAsset[]): void {
  const update = db.sqlite.query<unknown, [string, number, string]>(
    'UPDATE assets SET sha256 = ?, size_bytes = ? WHERE id = ?',
  )
  for (const { id, sha256, sizeBytes } of assets) update.run(sha256, sizeBytes, id)
}

/** Projects on which a direct permission or a group gives the user a role, whichever. */
export function listProjectIdsOfUser(db: Db, userId: string): string[] {
  return db.sqlite
    .query<{ id: string }, [string, string]>(
      `SELECT project_id AS id FROM permissions WHERE user_id = ?
       UNION SELECT gp.project_id FROM group_permissions gp JOIN group_members gm ON gm.group_id = gp.group_id
       WHERE gm.user_id = ?`,
    )
    .all(userId, userId)
    .map(({ id }) => id)
}

/** The global admin who has been one of the accounts for longest. */
export function findFirstAdmin(db: Db): string | undefined {
  return db.sqlite
    .query<{ id: string }, []>("SELECT id FROM users WHERE role = 'admin' ORDER BY created_at, id LIMIT 1")
    .get()?.id
}

/** The key was not revoked, the session not ended, since the upload began. */
export function hasCredential(db: Db, kind: 'key' | 'session', id: string): boolean {
  const table = kind === 'key' ? 'api_keys' : 'sessions'
  return db.sqlite.query(`SELECT 1 FROM ${table} WHERE id = ?`).get(id) !== null
}

export function hasUser(db: Db, id: string): boolean {
  return db.sqlite.query('SELECT 1 FROM users WHERE id = ?').get(id) !== null
}
