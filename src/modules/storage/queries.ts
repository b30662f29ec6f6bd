import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

export type ProjectName = { projectId: string; owner: string; name: string }

export function listProjectNames(db: Db): ProjectName[] {
  return prepared<ProjectName>(
    db,
    'SELECT id AS projectId, owner, name FROM projects ORDER BY owner, name',
  ).all()
}

export type Published = { deployments: number; files: number; bytes: number }

/** As published: what several deployments share is in each of them. */
export function sumPublished(db: Db, projectId: string): Published {
  return (
    prepared<Published>(
      db,
      `SELECT count(*) AS deployments, coalesce(sum(file_count), 0) AS files, coalesce(sum(total_size), 0) AS bytes
       FROM deployments WHERE project_id = ?`,
    ).get(projectId) ?? { deployments: 0, files: 0, bytes: 0 }
  )
}

/** Each content of the project once. */
export function sumUnique(db: Db, projectId: string): number {
  return (
    prepared<{ bytes: number }>(
      db,
      `SELECT coalesce(sum(size_bytes), 0) AS bytes FROM blobs WHERE sha256 IN (
         SELECT a.sha256 FROM deployments d JOIN assets a ON a.deployment_id = d.id WHERE d.project_id = ?)`,
    ).get(projectId)?.bytes ?? 0
  )
}

export type Stored = { contents: number; bytes: number }

/** Each content of the workspace once, and the compressed forms. */
export function sumStored(db: Db): Stored {
  return (
    prepared<Stored>(
      db,
      'SELECT count(*) AS contents, coalesce(sum(size_bytes), 0) AS bytes FROM blobs',
    ).get() ?? { contents: 0, bytes: 0 }
  )
}
