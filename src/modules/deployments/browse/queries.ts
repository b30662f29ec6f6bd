import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'

type EntryRow = { name: string; fileCount: number; sizeBytes: number }

/** The direct children of a folder (empty, or ending in `/`), by name. The name of a folder ends in `/`. */
export const listEntries = (db: Db, deploymentId: string, folder: string): EntryRow[] =>
  prepared<EntryRow>(
    db,
    `SELECT CASE WHEN instr(rest, '/') = 0 THEN rest ELSE substr(rest, 1, instr(rest, '/')) END AS name,
            count(*) AS fileCount, sum(size_bytes) AS sizeBytes
     FROM (SELECT substr(path, length(?2) + 1) AS rest, size_bytes FROM assets
           WHERE deployment_id = ?1 AND path >= ?2 AND path < ?3)
     GROUP BY name ORDER BY name`,
  ).all(deploymentId, folder, `${folder}\u{10ffff}`)

/** The content of a file; null if the deployment has no such path. */
export const findContent = (db: Db, deploymentId: string, path: string): StoredBlob | null =>
  prepared<StoredBlob>(
    db,
    `SELECT b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object
     FROM assets a JOIN blobs b ON b.id = a.blob_id WHERE a.deployment_id = ? AND a.path = ?`,
  ).get(deploymentId, path)

/** Names of the aliases whose folder of their deployment has a start page. */
export const listAliasesWithStartPage = (db: Db, projectId: string): string[] =>
  prepared<{ name: string }>(
    db,
    `SELECT name FROM aliases a WHERE project_id = ? AND EXISTS
       (SELECT 1 FROM assets f WHERE f.deployment_id = a.deployment_id
          AND f.path = substr(a.base_path || '/index.html', 2))
     ORDER BY name`,
  )
    .all(projectId)
    .map(({ name }) => name)

/** All paths in order, or null if there are more than `limit`. */
export function listPaths(db: Db, deploymentId: string, limit: number): string[] | null {
  const rows = prepared<{ path: string }>(
    db,
    'SELECT path FROM assets WHERE deployment_id = ? ORDER BY path LIMIT ?',
  ).all(deploymentId, limit + 1)
  return rows.length > limit ? null : rows.map(({ path }) => path)
}
