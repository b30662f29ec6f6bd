import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { Policy } from './model.ts'

export type PolicyRow = Policy & { lastRunAt: number | null; lastRemoved: number; lastBytes: number }

export const findPolicy = (db: Db, projectId: string): PolicyRow | null =>
  prepared<PolicyRow>(
    db,
    `SELECT keep_last AS keepLast, keep_days AS keepDays, last_run_at AS lastRunAt, last_removed AS lastRemoved,
       last_bytes AS lastBytes FROM retention_policies WHERE project_id = ?`,
  ).get(projectId)

export function putPolicy(db: Db, projectId: string, { keepLast, keepDays }: Policy, at: number): void {
  prepared(
    db,
    `INSERT INTO retention_policies (project_id, keep_last, keep_days, changed_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (project_id) DO UPDATE SET
       keep_last = excluded.keep_last, keep_days = excluded.keep_days, changed_at = excluded.changed_at`,
  ).run(projectId, keepLast, keepDays, at)
}

export function putLastRun(db: Db, projectId: string, at: number, removed: number, bytes: number): void {
  prepared(
    db,
    `INSERT INTO retention_policies (project_id, changed_at, last_run_at, last_removed, last_bytes)
     VALUES (?1, ?2, ?2, ?3, ?4)
     ON CONFLICT (project_id) DO UPDATE SET last_run_at = ?2, last_removed = ?3, last_bytes = ?4`,
  ).run(projectId, at, removed, bytes)
}

/** Projects with a rule whose last run, or else the change of their rules, was before. */
export const listOverdue = (db: Db, before: number): string[] =>
  prepared<{ projectId: string }>(
    db,
    `SELECT r.project_id AS projectId FROM retention_policies r JOIN projects p ON p.id = r.project_id
     WHERE (keep_last IS NOT NULL OR keep_days IS NOT NULL) AND coalesce(last_run_at, changed_at) < ?
     ORDER BY last_run_at, r.project_id`,
  )
    .all(before)
    .map(({ projectId }) => projectId)

export type Candidate = {
  id: string
  commitSha: string
  version: number
  createdAt: number
  updatedAt: number
  totalSize: number
  preview: string | null
}

const CANDIDATE = `SELECT id, commit_sha AS commitSha, version, created_at AS createdAt,
  updated_at AS updatedAt, total_size AS totalSize, preview FROM deployments`

export type Place = Pick<Candidate, 'createdAt' | 'id'>

/** Those after `after`, newest first. */
export const listAfter = (db: Db, projectId: string, after: Place, limit: number): Candidate[] =>
  prepared<Candidate>(
    db,
    `${CANDIDATE} WHERE project_id = ? AND (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?`,
  ).all(projectId, after.createdAt, after.id, limit)

/** Newest first; those that are gone are left out. */
export const listByIds = (db: Db, projectId: string, ids: readonly string[]): Candidate[] =>
  prepared<Candidate>(
    db,
    `${CANDIDATE} WHERE project_id = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC, id DESC`,
  ).all(projectId, JSON.stringify(ids))

/** The last of the newest `keepLast` that were not published as previews; null if there are not that many. */
export const findLastKept = (db: Db, projectId: string, keepLast: number): Place | null =>
  prepared<Place>(
    db,
    `SELECT created_at AS createdAt, id FROM deployments WHERE project_id = ? AND preview IS NULL
     ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?`,
  ).get(projectId, keepLast - 1)

const idsOf = (db: Db, sql: string, projectId: string, now?: number): Set<string> => {
  const rows = prepared<{ id: string | null }>(db, sql).all(
    ...(now === undefined ? [projectId] : [projectId, now]),
  )
  return new Set(rows.flatMap(({ id }) => id ?? []))
}

const IS_THERE = '(expires_at IS NULL OR expires_at > ?2 OR is_locked = 1)'

/** What an alias shows, or a preview that has not ended. */
export const listShown = (db: Db, projectId: string, now: number): Set<string> =>
  idsOf(db, `SELECT deployment_id AS id FROM aliases WHERE project_id = ?1 AND ${IS_THERE}`, projectId, now)

/** What each alias without an end showed before: where a rollback leads. */
export const listShownBefore = (db: Db, projectId: string): Set<string> =>
  idsOf(
    db,
    `SELECT (SELECT h.deployment_id FROM alias_history h JOIN deployments d ON d.id = h.deployment_id
       WHERE h.alias_id = a.id AND h.deployment_id <> a.deployment_id
       ORDER BY h.moved_at DESC, h.id DESC LIMIT 1) AS id
     FROM aliases a WHERE a.project_id = ? AND a.expires_at IS NULL`,
    projectId,
  )

/** What was published as a preview that has not ended. */
export const listOfPreviews = (db: Db, projectId: string, now: number): Set<string> =>
  idsOf(
    db,
    `SELECT p.deployment_id AS id FROM aliases a JOIN preview_deployments p ON p.alias_id = a.id
     WHERE a.project_id = ?1 AND a.expires_at IS NOT NULL AND ${IS_THERE}`,
    projectId,
    now,
  )

export const listContentIds = (db: Db, deploymentId: string): number[] =>
  prepared<{ id: number }>(db, 'SELECT blob_id AS id FROM assets WHERE deployment_id = ?')
    .all(deploymentId)
    .map(({ id }) => id)

/** `uses`: by how many files; counted up to `most`. `isSent`: for an upload that goes on, or a file of a project. */
type Use = { sha256: string; sizeBytes: number; uses: number; isSent: 0 | 1 }

export const findUse = (db: Db, contentId: number, most: number, now: number): Use | null =>
  prepared<Use>(
    db,
    `SELECT sha256, size_bytes AS sizeBytes,
       (SELECT count(*) FROM (SELECT 1 FROM assets WHERE blob_id = ?1 LIMIT ?2)) AS uses,
       EXISTS (SELECT 1 FROM upload_blobs u WHERE u.sha256 = blobs.sha256 AND u.expires_at > ?3)
         OR EXISTS (SELECT 1 FROM project_files WHERE blob_id = ?1) AS isSent
     FROM blobs WHERE id = ?1`,
  ).get(contentId, most, now)

const idsOfContents = (db: Db, sql: string, sha256: string): number[] =>
  prepared<{ id: number }>(db, sql)
    .all(sha256)
    .map(({ id }) => id)

/** Its compressed forms. */
export const listForms = (db: Db, sha256: string): number[] =>
  idsOfContents(
    db,
    'SELECT b.id FROM blob_variants v JOIN blobs b ON b.sha256 = v.variant_sha256 WHERE v.sha256 = ?',
    sha256,
  )

/** Contents that it is the compressed form of. */
export const listOriginals = (db: Db, sha256: string): number[] =>
  idsOfContents(
    db,
    'SELECT b.id FROM blob_variants v JOIN blobs b ON b.sha256 = v.sha256 WHERE v.variant_sha256 = ?',
    sha256,
  )
