import { eq } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { deploymentReports } from '../../db/schema-releases.ts'
import { prepared } from '../../db/statements.ts'
import type { ContentCoding } from '../../domain/content-encoding.ts'
import type { StoredBlob } from '../../platform/blob-store.ts'

export type ReportRow = typeof deploymentReports.$inferSelect

export const findReport = (db: DbOrTx, deploymentId: string): ReportRow | undefined =>
  db.select().from(deploymentReports).where(eq(deploymentReports.deploymentId, deploymentId)).get()

/** Puts it in the place of the one of an earlier upload. */
export function replaceReport(db: DbOrTx, row: ReportRow): void {
  db.insert(deploymentReports)
    .values(row)
    .onConflictDoUpdate({ target: deploymentReports.deploymentId, set: row })
    .run()
}

/** The next ones that are not made yet, after the id `after`. */
export const listRunning = (db: Db, after: string, limit: number): string[] =>
  prepared<{ id: string }>(
    db,
    `SELECT deployment_id AS id FROM deployment_reports
     WHERE status = 'running' AND deployment_id > ? ORDER BY deployment_id LIMIT ?`,
  )
    .all(after, limit)
    .map(({ id }) => id)

export type Ended = { status: 'complete' | 'failed'; made: string | null; completedAt: number }

/** Of no effect once another upload has begun a report of its own, or the deployment is gone. */
export function endReport(
  db: Db,
  { deploymentId, uploadId }: Pick<ReportRow, 'deploymentId' | 'uploadId'>,
  { status, made, completedAt }: Ended,
): void {
  prepared(
    db,
    `UPDATE deployment_reports SET status = ?, made = ?, completed_at = ?
     WHERE deployment_id = ? AND upload_id = ?`,
  ).run(status, made, completedAt, deploymentId, uploadId)
}

/** A file of a deployment with its content. */
export type ReportedFile = StoredBlob & { path: string }

/** The next files after the path `after`. */
export const listFilesAfter = (db: Db, deploymentId: string, after: string, limit: number): ReportedFile[] =>
  prepared<ReportedFile>(
    db,
    `SELECT f.path, b.sha256, b.size_bytes AS sizeBytes, b.pack, b.offset, b.object
     FROM assets f JOIN blobs b ON b.id = f.blob_id
     WHERE f.deployment_id = ? AND f.path > ? ORDER BY f.path LIMIT ?`,
  ).all(deploymentId, after, limit)

export const isWaitingForForms = (db: Db, deploymentId: string): boolean =>
  prepared<{ found: number }>(
    db,
    'SELECT EXISTS (SELECT 1 FROM waiting_deployments WHERE deployment_id = ?) AS found',
  ).get(deploymentId)?.found === 1

type Saved = { encoding: ContentCoding; bytes: number }

/** How many bytes fewer are sent in each coding, of all files of the deployment together. */
export const listSaved = (db: Db, deploymentId: string, projectId: string): Saved[] =>
  prepared<Saved>(
    db,
    `SELECT v.encoding, sum(f.size_bytes - form.size_bytes) AS bytes
     FROM assets f JOIN blobs b ON b.id = f.blob_id
       JOIN project_variants p ON p.project_id = ?2 AND p.blob_id = f.blob_id
       JOIN blob_variants v ON v.sha256 = b.sha256
       JOIN blobs form ON form.sha256 = v.variant_sha256
     WHERE f.deployment_id = ?1 GROUP BY v.encoding`,
  ).all(deploymentId, projectId)
