import type { Db } from '../../../db/open.ts'
import type { ContentCoding } from '../../../domain/content-encoding.ts'
import { NEVER_COMPRESSED } from '../blob-queries.ts'

/** `variantsAt`: see the table `blobs`. */
export type PendingFile = { path: string; sha256: string; sizeBytes: number; variantsAt: number | null }

/** The next files of a deployment after the path `after`, in order. */
export function listFilesAfter(db: Db, deploymentId: string, after: string, limit: number): PendingFile[] {
  return db.sqlite
    .query<PendingFile, [string, string, number]>(
      `SELECT a.path, b.sha256, b.size_bytes AS sizeBytes, b.variants_at AS variantsAt
       FROM assets a JOIN blobs b ON b.id = a.blob_id
       WHERE a.deployment_id = ? AND a.path > ? ORDER BY a.path LIMIT ?`,
    )
    .all(deploymentId, after, limit)
}

/** Contents whose variants are still to be made, after `after`, with a few deployments that have them. */
export function listWaiting(
  db: Db,
  after: string,
  limit: number,
): { sha256: string; deploymentIds: string[] }[] {
  const contents = db.sqlite
    .query<{ id: number; sha256: string }, [string, number]>(
      'SELECT id, sha256 FROM blobs WHERE variants_at IS NULL AND sha256 > ? ORDER BY sha256 LIMIT ?',
    )
    .all(after, limit)
  const deploymentsOf = db.sqlite.query<{ id: string }, [number]>(
    'SELECT deployment_id AS id FROM assets WHERE blob_id = ? LIMIT 3',
  )
  return contents.map(({ id, sha256 }) => ({
    sha256,
    deploymentIds: deploymentsOf.all(id).map(({ id }) => id),
  }))
}

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

export function markDone(db: Db, sha256s: readonly string[], at: number): void {
  db.sqlite
    .query('UPDATE blobs SET variants_at = ? WHERE sha256 IN (SELECT value FROM json_each(?))')
    .run(at, JSON.stringify(sha256s))
}

/** Their files have no type worth compressing; a later upload may bring one. */
export function markUnwanted(db: Db, sha256s: readonly string[]): void {
  db.sqlite
    .query(
      `UPDATE blobs SET variants_at = ?
       WHERE variants_at IS NULL AND sha256 IN (SELECT value FROM json_each(?))`,
    )
    .run(NEVER_COMPRESSED, JSON.stringify(sha256s))
}

/** The deployments that have one of these contents. */
export function listUsers(db: Db, sha256s: readonly string[]): string[] {
  return db.sqlite
    .query<{ id: string }, [string]>(
      `SELECT DISTINCT a.deployment_id AS id FROM blobs b JOIN assets a ON a.blob_id = b.id
       WHERE b.sha256 IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(sha256s))
    .map(({ id }) => id)
}
