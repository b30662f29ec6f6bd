import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import { NO_QUOTA, type Quota } from './model.ts'

const LIMITS = 'bytes, deployments, files'

/** Null: there is no limit of any kind. */
export const findQuota = (db: Db, projectId: string): Quota | null =>
  prepared<Quota>(db, `SELECT ${LIMITS} FROM project_quotas WHERE project_id = ?`).get(projectId)

/** Those of the projects that have one. */
export const listQuotas = (db: Db): Map<string, Quota> =>
  new Map(
    prepared<Quota & { projectId: string }>(
      db,
      `SELECT project_id AS projectId, ${LIMITS} FROM project_quotas`,
    )
      .all()
      .map(({ projectId, ...quota }) => [projectId, quota]),
  )

export function putQuota(db: Db, projectId: string, { bytes, deployments, files }: Quota = NO_QUOTA): void {
  prepared(
    db,
    'INSERT OR REPLACE INTO project_quotas (project_id, bytes, deployments, files) VALUES (?, ?, ?, ?)',
  ).run(projectId, bytes, deployments, files)
}

/** `published`: as published, so that no more than this can be stored of it; `uploaded` the same of the project's files. */
type Sums = { deployments: number; files: number; published: number; uploaded: number }

export const sumDeployments = (db: Db, projectId: string): Sums =>
  prepared<Sums>(
    db,
    `SELECT count(*) AS deployments, coalesce(sum(file_count), 0) AS files,
       coalesce(sum(total_size), 0) AS published,
       coalesce((SELECT bytes FROM project_file_totals WHERE project_id = ?1), 0) AS uploaded
     FROM deployments WHERE project_id = ?1`,
  ).get(projectId) ?? { deployments: 0, files: 0, published: 0, uploaded: 0 }

/** Contents of interrupted uploads, which are kept for a while. */
const OF_UPLOADS = `SELECT b.id FROM upload_blobs u JOIN blobs b ON b.sha256 = u.sha256
  WHERE u.project_id = ? AND u.expires_at > ?`

const sumOf = (contents: string) =>
  `SELECT coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE id IN (${contents})`

export const sumOfUploads = (db: Db, projectId: string, now: number): number =>
  prepared<{ bytes: number }>(db, sumOf(OF_UPLOADS)).get(projectId, now)?.bytes ?? 0

/** Each content that the project stores once. Reads all its files. */
export const sumContents = (db: Db, projectId: string, now: number): number =>
  prepared<{ bytes: number }>(
    db,
    sumOf(`SELECT a.blob_id FROM deployments d JOIN assets a ON a.deployment_id = d.id WHERE d.project_id = ?
           UNION SELECT blob_id FROM project_files WHERE project_id = ?
           UNION ${OF_UPLOADS}`),
  ).get(projectId, projectId, projectId, now)?.bytes ?? 0

type Content = { id: number; sizeBytes: number }

/** Those of the project's files, and of interrupted uploads. */
export const listContentsBesides = (db: Db, projectId: string, now: number): Content[] =>
  prepared<Content>(
    db,
    `SELECT id, size_bytes AS sizeBytes FROM blobs WHERE id IN
       (SELECT blob_id FROM project_files WHERE project_id = ? UNION ${OF_UPLOADS})`,
  ).all(projectId, projectId, now)

export const listContentsOf = (db: Db, deploymentId: string): Content[] =>
  prepared<Content>(
    db,
    'SELECT blob_id AS id, size_bytes AS sizeBytes FROM assets WHERE deployment_id = ?',
  ).all(deploymentId)

export const listDeploymentIds = (db: Db, projectId: string): string[] =>
  prepared<{ id: string }>(db, 'SELECT id FROM deployments WHERE project_id = ?')
    .all(projectId)
    .map(({ id }) => id)
