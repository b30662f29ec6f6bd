import { eq, lt } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { uploadBlobs, uploads } from '../../db/schema.ts'

export type UploadRow = typeof uploads.$inferSelect

export function findUpload(db: DbOrTx, id: string): UploadRow | undefined {
  return db.select().from(uploads).where(eq(uploads.id, id)).get()
}

export function insertUpload(db: DbOrTx, upload: UploadRow): void {
  db.insert(uploads).values(upload).run()
}

/**
 * Of these contents those that the project holds, with their sizes: in a deployment, or sent for a delta upload that
 * has not expired. What another project holds is not looked at: its existence is nobody else's to know.
 */
export function listHeld(
  db: Db,
  projectId: string,
  sha256s: Iterable<string>,
  now: number,
): Map<string, number> {
  const find = db.sqlite.query<{ size: number }, { sha256: string; projectId: string; now: number }>(
    `SELECT size_bytes AS size FROM blobs WHERE sha256 = :sha256 AND (
       EXISTS (SELECT 1 FROM upload_blobs WHERE project_id = :projectId AND sha256 = :sha256 AND expires_at > :now)
       OR EXISTS (SELECT 1 FROM assets f JOIN deployments d ON d.id = f.deployment_id
                  WHERE f.sha256 = :sha256 AND d.project_id = :projectId))`,
  )
  const held = new Map<string, number>()
  for (const sha256 of sha256s) {
    const row = find.get({ sha256, projectId, now })
    if (row !== null) held.set(sha256, row.size)
  }
  return held
}

export function upsertUploadBlobs(
  db: Db,
  projectId: string,
  sha256s: Iterable<string>,
  expiresAt: number,
): void {
  const upsert = db.sqlite.query<unknown, [string, string, number]>(
    `INSERT INTO upload_blobs (project_id, sha256, expires_at) VALUES (?, ?, ?)
     ON CONFLICT (project_id, sha256) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
  )
  for (const sha256 of sha256s) upsert.run(projectId, sha256, expiresAt)
}

export function deleteUploadsBefore(db: DbOrTx, before: number): void {
  db.delete(uploads).where(lt(uploads.expiresAt, before)).run()
}

export function deleteUploadBlobsBefore(db: DbOrTx, before: number): void {
  db.delete(uploadBlobs).where(lt(uploadBlobs.expiresAt, before)).run()
}
