import { and, eq, isNull } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { uploads } from '../../../db/schema-contents.ts'
import { prepared } from '../../../db/statements.ts'
import type { Release } from '../../releases/model.ts'

export type UploadRow = typeof uploads.$inferSelect

export function findUpload(db: DbOrTx, id: string): UploadRow | undefined {
  return db.select().from(uploads).where(eq(uploads.id, id)).get()
}

export function insertUpload(db: DbOrTx, upload: UploadRow): void {
  db.insert(uploads).values(upload).run()
}

/** False when another request published it. */
export function claimUpload(db: DbOrTx, id: string, publishedAt: number): boolean {
  const claimed = db
    .update(uploads)
    .set({ publishedAt })
    .where(and(eq(uploads.id, id), isNull(uploads.publishedAt)))
    .returning({ id: uploads.id })
    .all()
  return claimed.length === 1
}

/** What it published, and how its release ended; null as long as its checks run. */
export function noteDeployment(db: DbOrTx, id: string, deploymentId: string, release: Release | null): void {
  const text = JSON.stringify(release ?? UNDECIDED)
  db.update(uploads).set({ deploymentId, release: text }).where(eq(uploads.id, id)).run()
}

const UNDECIDED = { status: 'undecided' } as const

/** How the release of an upload ended. Null for one from before there were any. */
export const releaseOf = ({ release }: UploadRow): Release | typeof UNDECIDED | null =>
  release === null ? null : (JSON.parse(release) as Release | typeof UNDECIDED)

export type Holdings = {
  /**
   * Contents that the project has, with their sizes: in a deployment, or sent for a delta upload that has not expired.
   * Contents that only other projects have are not included, because their existence must stay secret.
   */
  held: ReadonlyMap<string, number>
  /** Contents that only other projects have: they must be sent, but are not stored twice. */
  elsewhere: readonly string[]
}

/** Which of these contents exist, undamaged. */
export function findHoldings(db: Db, projectId: string, sha256s: Iterable<string>, now: number): Holdings {
  const rows = db.sqlite
    .query<unknown, { asked: string; projectId: string; now: number }>(
      `SELECT b.sha256, b.size_bytes, ${HELD} FROM json_each(:asked) a CROSS JOIN blobs b ON b.sha256 = a.value
       WHERE b.damaged = 0`,
    )
    .values({ asked: JSON.stringify([...sha256s]), projectId, now }) as [string, number, 0 | 1][]
  const held = new Map<string, number>()
  const elsewhere: string[] = []
  for (const [sha256, sizeBytes, isHeld] of rows) {
    if (isHeld === 1) held.set(sha256, sizeBytes)
    else elsewhere.push(sha256)
  }
  return { held, elsewhere }
}

const HELD = `(
  EXISTS (SELECT 1 FROM upload_blobs WHERE project_id = :projectId AND sha256 = b.sha256 AND expires_at > :now)
  OR EXISTS (SELECT 1 FROM assets f JOIN deployments d ON d.id = f.deployment_id
             WHERE f.blob_id = b.id AND d.project_id = :projectId))`

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

/** Deletes at most `limit`, and returns how many. */
export function deleteUploadsBefore(db: Db, before: number, limit: number): number {
  return prepared(
    db,
    'DELETE FROM uploads WHERE id IN (SELECT id FROM uploads WHERE expires_at < ? LIMIT ?) RETURNING 1',
  ).all(before, limit).length
}

/** Deletes at most `limit`, and returns how many. */
export function deleteUploadBlobsBefore(db: Db, before: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM upload_blobs WHERE (project_id, sha256) IN
       (SELECT project_id, sha256 FROM upload_blobs WHERE expires_at < ? LIMIT ?) RETURNING 1`,
  ).all(before, limit).length
}
