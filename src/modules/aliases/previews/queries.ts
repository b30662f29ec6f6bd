import type { Db } from '../../../db/open.ts'
import { prepared } from '../../../db/statements.ts'

const DEFAULT_DAYS = 7

/** The id of the preview that ended first by time and is still there, of a project that was not deleted. */
const FIRST_DUE = `FROM aliases a JOIN projects p ON p.id = a.project_id
  WHERE a.expires_at IS NOT NULL AND a.is_locked = 0 ORDER BY a.expires_at LIMIT 1`

/** When the next preview ends by time; infinity if none does. */
export const findNextEnd = (db: Db): number =>
  prepared<{ at: number }>(db, `SELECT a.expires_at AS at ${FIRST_DUE}`).get()?.at ?? Number.POSITIVE_INFINITY

/** The preview that ends next. */
export const findFirstDue = (db: Db): string | undefined =>
  prepared<{ id: string }>(db, `SELECT a.id ${FIRST_DUE}`).get()?.id

export const findPreviewDays = (db: Db, projectId: string): number =>
  prepared<{ days: number }>(db, 'SELECT preview_days AS days FROM projects WHERE id = ?').get(projectId)
    ?.days ?? DEFAULT_DAYS

export function recordPublished(db: Db, aliasId: string, deploymentId: string, at: number): void {
  prepared(
    db,
    `INSERT INTO preview_deployments (alias_id, deployment_id, published_at) VALUES (?, ?, ?)
     ON CONFLICT (alias_id, deployment_id) DO UPDATE SET published_at = excluded.published_at`,
  ).run(aliasId, deploymentId, at)
}

type Ending = { id: string; commitSha: string }

/** What was published as the preview and no other alias shows or ever showed. */
export const listEnding = (db: Db, aliasId: string): Ending[] =>
  prepared<Ending>(
    db,
    `SELECT d.id, d.commit_sha AS commitSha
     FROM preview_deployments p JOIN deployments d ON d.id = p.deployment_id
     WHERE p.alias_id = ?1 AND p.is_kept = 0
       AND NOT EXISTS (SELECT 1 FROM aliases a WHERE a.deployment_id = d.id AND a.id <> ?1)
       AND NOT EXISTS (SELECT 1 FROM alias_history h WHERE h.deployment_id = d.id AND h.alias_id <> ?1)
     ORDER BY p.published_at, d.id`,
  ).all(aliasId)

type Published = { aliasId: string; deployments: number; lastPublishedAt: number | null }

/** Of the previews of a project: how much was published as each, and when last; else when it was moved last. */
export const listPublished = (db: Db, projectId: string): Published[] =>
  prepared<Published>(
    db,
    `SELECT a.id AS aliasId, count(p.deployment_id) AS deployments,
       coalesce(max(p.published_at), (SELECT max(moved_at) FROM alias_history WHERE alias_id = a.id)) AS lastPublishedAt
     FROM aliases a LEFT JOIN preview_deployments p ON p.alias_id = a.id
     WHERE a.project_id = ? AND a.expires_at IS NOT NULL GROUP BY a.id ORDER BY a.expires_at, a.id`,
  ).all(projectId)

/** Of all projects; those whose end has passed do not count. */
export const countPreviews = (db: Db, now: number): number =>
  prepared<{ count: number }>(
    db,
    `SELECT count(*) AS count FROM aliases a JOIN projects p ON p.id = a.project_id
     WHERE a.expires_at IS NOT NULL AND (a.expires_at > ? OR a.is_locked = 1)`,
  ).get(now)?.count ?? 0
