import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'

type RoutingFileRow = StoredBlob & { path: string }

/** The routing files of a deployment, those of the outer folders first. */
export const listRoutingFiles = (db: Db, deploymentId: string, limit: number): RoutingFileRow[] =>
  prepared<RoutingFileRow>(
    db,
    `SELECT f.path, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object
       FROM assets f JOIN blobs b ON b.id = f.blob_id
       WHERE f.deployment_id = ? AND (substr('/' || f.path, -11) = '/_redirects' OR substr('/' || f.path, -9) = '/_headers')
       ORDER BY length(f.path) - length(replace(f.path, '/', '')), f.path LIMIT ?`,
  ).all(deploymentId, limit)

/** The compiled form as stored: JSON. */
export const findCompiled = (db: Db, deploymentId: string, folder: string): string | null =>
  prepared<{ compiled: string }>(
    db,
    'SELECT compiled FROM deployment_routing WHERE deployment_id = ? AND folder = ?',
  ).get(deploymentId, folder)?.compiled ?? null

export type CompiledRow = { folder: string; compiled: string }

export const listCompiled = (db: Db, deploymentId: string): CompiledRow[] =>
  prepared<CompiledRow>(
    db,
    'SELECT folder, compiled FROM deployment_routing WHERE deployment_id = ? ORDER BY folder',
  ).all(deploymentId)

/** Puts these in the place of what the deployment had. */
export function replaceCompiled(db: Db, deploymentId: string, rows: readonly CompiledRow[]): void {
  prepared(db, 'DELETE FROM deployment_routing WHERE deployment_id = ?').run(deploymentId)
  const insert = prepared(
    db,
    'INSERT INTO deployment_routing (deployment_id, folder, compiled) VALUES (?, ?, ?)',
  )
  for (const { folder, compiled } of rows) insert.run(deploymentId, folder, compiled)
}

type RoutedRow = { id: string; commitSha: string }

/** Deployments that have routing, in the order of their ids. */
export const listRoutedAfter = (db: Db, after: string, limit: number): RoutedRow[] =>
  prepared<RoutedRow>(
    db,
    `SELECT d.id, d.commit_sha AS commitSha FROM deployments d
       WHERE d.id > ? AND EXISTS (SELECT 1 FROM deployment_routing r WHERE r.deployment_id = d.id)
       ORDER BY d.id LIMIT ?`,
  ).all(after, limit)
