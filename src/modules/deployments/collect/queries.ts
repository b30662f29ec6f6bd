import type { Db } from '../../../db/open.ts'
import type { StoredBlob } from '../../../platform/blob-store.ts'

/** Stamps contents that lost a reference, or were stamped by a clock that was ahead. Returns how many. */
export function stampCandidates(db: Db, seenAt: number, limit: number): number {
  return db.sqlite
    .query(
      `UPDATE blob_candidates SET seen_at = ?1
       WHERE sha256 IN (SELECT sha256 FROM blob_candidates WHERE seen_at IS NULL OR seen_at > ?1 LIMIT ?2)`,
    )
    .run(seenAt, limit).changes
}

export type Candidate = { sha256: string; seenAt: number }

/** Candidates stamped up to `until`, after the candidate `after`, oldest first. */
export function listCandidates(db: Db, until: number, after: Candidate, limit: number): Candidate[] {
  return db.sqlite
    .query<Candidate, [number, number, string, number]>(
      `SELECT sha256, seen_at AS seenAt FROM blob_candidates
       WHERE seen_at <= ? AND (seen_at, sha256) > (?, ?) ORDER BY seen_at, sha256 LIMIT ?`,
    )
    .all(until, after.seenAt, after.sha256, limit)
}

/** Referred to by a file of a deployment or of a project, by an interrupted upload, or as the compressed form of a content. */
export function isReferenced(db: Db, sha256: string): boolean {
  const found = db.sqlite
    .query<{ is: number }, [string, string, string, string]>(
      `SELECT EXISTS (SELECT 1 FROM assets WHERE blob_id = (SELECT id FROM blobs WHERE sha256 = ?))
           OR EXISTS (SELECT 1 FROM project_files WHERE blob_id = (SELECT id FROM blobs WHERE sha256 = ?))
           OR EXISTS (SELECT 1 FROM upload_blobs WHERE sha256 = ?)
           OR EXISTS (SELECT 1 FROM blob_variants WHERE variant_sha256 = ?) AS "is"`,
    )
    .get(sha256, sha256, sha256, sha256)
  return found?.is === 1
}

export function listVariantsOf(db: Db, sha256: string): string[] {
  return db.sqlite
    .query<{ sha256: string }, [string]>(
      'SELECT variant_sha256 AS sha256 FROM blob_variants WHERE sha256 = ?',
    )
    .all(sha256)
    .map((row) => row.sha256)
}

export function deleteCandidate(db: Db, sha256: string): void {
  db.sqlite.query('DELETE FROM blob_candidates WHERE sha256 = ?').run(sha256)
}

/** Its compressed forms become candidates. Returns where it was stored; null if there was no row. */
export function deleteBlob(db: Db, sha256: string): StoredBlob | null {
  return db.sqlite
    .query<StoredBlob, [string]>(
      'DELETE FROM blobs WHERE sha256 = ? RETURNING sha256, size_bytes AS sizeBytes, pack, offset, object',
    )
    .get(sha256)
}

export function hasBlob(db: Db, sha256: string): boolean {
  return db.sqlite.query('SELECT 1 FROM blobs WHERE sha256 = ?').get(sha256) !== null
}

export function hasFileOfItsOwn(db: Db, sha256: string): boolean {
  return db.sqlite.query('SELECT 1 FROM blobs WHERE sha256 = ? AND pack IS NULL').get(sha256) !== null
}

export function liveInPack(db: Db, pack: string): { count: number; bytes: number } {
  return (
    db.sqlite
      .query<{ count: number; bytes: number }, [string]>(
        'SELECT count(*) AS count, coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE pack = ?',
      )
      .get(pack) ?? { count: 0, bytes: 0 }
  )
}

export function hasPack(db: Db, pack: string): boolean {
  return db.sqlite.query('SELECT 1 FROM blobs WHERE pack = ? LIMIT 1').get(pack) !== null
}

/** The next pack after `after`, by name; null at the end. */
export function nextPack(db: Db, after: string): string | null {
  return (
    db.sqlite
      .query<{ pack: string }, [string]>('SELECT pack FROM blobs WHERE pack > ? ORDER BY pack LIMIT 1')
      .get(after)?.pack ?? null
  )
}

export function listInPack(db: Db, pack: string): StoredBlob[] {
  return db.sqlite
    .query<StoredBlob, [string]>(
      'SELECT sha256, size_bytes AS sizeBytes, pack, offset, object FROM blobs WHERE pack = ? ORDER BY offset',
    )
    .all(pack)
}

/** Does nothing if the content was freed or moved meanwhile. */
export function moveBlob(db: Db, blob: StoredBlob, from: string): void {
  db.sqlite
    .query('UPDATE blobs SET pack = ?, offset = ? WHERE sha256 = ? AND pack = ?')
    .run(blob.pack, blob.offset, blob.sha256, from)
}

/** The deployments that serve one of these contents, as it is or as the compressed form of another. */
export function listSenders(db: Db, sha256s: readonly string[]): string[] {
  const list = JSON.stringify(sha256s)
  return db.sqlite
    .query<{ id: string }, [string, string]>(
      `SELECT a.deployment_id AS id FROM blobs b JOIN assets a ON a.blob_id = b.id
       WHERE b.sha256 IN (SELECT value FROM json_each(?))
       UNION SELECT a.deployment_id FROM blob_variants v JOIN blobs b ON b.sha256 = v.sha256
       JOIN assets a ON a.blob_id = b.id WHERE v.variant_sha256 IN (SELECT value FROM json_each(?))`,
    )
    .all(list, list)
    .map(({ id }) => id)
}
