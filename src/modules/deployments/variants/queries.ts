import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'
import type { ContentCoding } from '../../../domain/content-encoding.ts'
import type { Traits } from '../../../domain/content-traits.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'

/** A file whose content its project has not compressed. */
type PendingFile = StoredBlob & { path: string; traits: Traits | null }

/** The next such files of a deployment of the project after the path `after`, in order. */
export function listPendingAfter(
  db: Db,
  { projectId, deploymentId }: { projectId: string; deploymentId: string },
  after: string,
  limit: number,
): PendingFile[] {
  return prepared<PendingFile>(
    db,
    `SELECT a.path, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object, b.traits
     FROM assets a JOIN blobs b ON b.id = a.blob_id
     WHERE a.deployment_id = ?1 AND a.path > ?2
       AND NOT EXISTS (SELECT 1 FROM project_variants WHERE project_id = ?3 AND blob_id = b.id)
     ORDER BY a.path LIMIT ?4`,
  ).all(deploymentId, after, projectId, limit)
}

export const findProjectOf = (db: Db, deploymentId: string): string | undefined =>
  prepared<{ projectId: string }>(db, 'SELECT project_id AS projectId FROM deployments WHERE id = ?').get(
    deploymentId,
  )?.projectId

/** Notes that files of these deployments are still to be compressed. */
export function insertWaiting(db: Db, deploymentIds: readonly string[]): void {
  const insert = prepared(db, 'INSERT OR IGNORE INTO waiting_deployments VALUES (?)')
  for (const id of deploymentIds) insert.run(id)
}

export function deleteWaiting(db: Db, deploymentId: string): void {
  prepared(db, 'DELETE FROM waiting_deployments WHERE deployment_id = ?').run(deploymentId)
}

/** The next waiting deployments after the id `after`. */
export const listWaiting = (db: Db, after: string, limit: number): string[] =>
  prepared<{ id: string }>(
    db,
    `SELECT deployment_id AS id FROM waiting_deployments WHERE deployment_id > ? ORDER BY deployment_id LIMIT ?`,
  )
    .all(after, limit)
    .map(({ id }) => id)

/** Those of the contents whose forms were never made, for any project. */
export const listUnmade = (db: Db, sha256s: readonly string[]): Set<string> =>
  new Set(
    prepared<{ sha256: string }>(
      db,
      'SELECT sha256 FROM blobs WHERE variants_at IS NULL AND sha256 IN (SELECT value FROM json_each(?))',
    )
      .all(JSON.stringify(sha256s))
      .map(({ sha256 }) => sha256),
  )

/** Prepared once for a batch of hundreds: through drizzle it would block requests for a tenth of a second. */
export function insertVariants(
  db: Db,
  variants: readonly { of: string; encoding: ContentCoding; sha256: string }[],
): void {
  const insert = db.sqlite.query<unknown, [string, string, string]>(
    `INSERT INTO blob_variants (sha256, encoding, variant_sha256) VALUES (?, ?, ?)
     ON CONFLICT (sha256, encoding) DO NOTHING`,
  )
  for (const { of, encoding, sha256 } of variants) insert.run(of, encoding, sha256)
}

/** From now on the project's files of a fitting type are sent in the forms of these contents, as far as it still has them. */
export function offerVariants(db: Db, projectId: string, sha256s: readonly string[]): void {
  prepared(
    db,
    `INSERT OR IGNORE INTO project_variants (project_id, blob_id)
     SELECT p.id, b.id FROM blobs b JOIN projects p ON p.id = ?1
     WHERE b.sha256 IN (SELECT value FROM json_each(?2))
       AND EXISTS (SELECT 1 FROM assets a JOIN deployments d ON d.id = a.deployment_id
                   WHERE a.blob_id = b.id AND d.project_id = ?1)`,
  ).run(projectId, JSON.stringify(sha256s))
}

/** The collector frees those that nothing refers to. */
export function addUnreferenced(db: Db, sha256s: readonly string[]): void {
  db.sqlite
    .query(
      `INSERT OR IGNORE INTO blob_candidates
       SELECT value, NULL FROM json_each(?)
       WHERE NOT EXISTS (SELECT 1 FROM blob_variants WHERE variant_sha256 = value)
         AND NOT EXISTS (SELECT 1 FROM blobs b JOIN assets a ON a.blob_id = b.id WHERE b.sha256 = value)`,
    )
    .run(JSON.stringify(sha256s))
}

export function markMade(db: Db, sha256s: readonly string[], at: number): void {
  prepared(db, 'UPDATE blobs SET variants_at = ? WHERE sha256 IN (SELECT value FROM json_each(?))').run(
    at,
    JSON.stringify(sha256s),
  )
}

/** The deployments of the project that have one of these contents. */
export const listUsers = (db: Db, projectId: string, sha256s: readonly string[]): string[] =>
  prepared<{ id: string }>(
    db,
    `SELECT DISTINCT a.deployment_id AS id
     FROM blobs b JOIN assets a ON a.blob_id = b.id JOIN deployments d ON d.id = a.deployment_id
     WHERE d.project_id = ? AND b.sha256 IN (SELECT value FROM json_each(?))`,
  )
    .all(projectId, JSON.stringify(sha256s))
    .map(({ id }) => id)

/** A form that is damaged is no longer sent, and each project that had it makes it again. */
export function withdrawVariant(db: Db, variantSha256: string): void {
  const contents =
    'SELECT b.id FROM blob_variants v JOIN blobs b ON b.sha256 = v.sha256 WHERE v.variant_sha256 = ?'
  prepared(
    db,
    `INSERT OR IGNORE INTO waiting_deployments
     SELECT DISTINCT d.id FROM project_variants v JOIN assets a ON a.blob_id = v.blob_id
     JOIN deployments d ON d.id = a.deployment_id AND d.project_id = v.project_id WHERE v.blob_id IN (${contents})`,
  ).run(variantSha256)
  prepared(db, `DELETE FROM project_variants WHERE blob_id IN (${contents})`).run(variantSha256)
  prepared(db, `UPDATE blobs SET variants_at = NULL WHERE id IN (${contents})`).run(variantSha256)
  prepared(db, 'DELETE FROM blob_variants WHERE variant_sha256 = ?').run(variantSha256)
}
