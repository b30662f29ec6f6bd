import { and, eq, gte, lte, or, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { auditLog } from '../../db/schema-audit.ts'
import { countRows, inList, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import type { Page } from '../../domain/pagination.ts'

export type AuditRow = typeof auditLog.$inferSelect

/** Times in milliseconds, both ends included. */
type AuditFilter = {
  action: string | undefined
  projectId: string | undefined
  actorId: string | undefined
  /** Of a group; an undo counts as what it did. */
  actions: string[] | undefined
  from: number | undefined
  to: number | undefined
}

export function selectAudit(
  db: DbOrTx,
  filter: AuditFilter,
  page: Page,
): { rows: AuditRow[]; total: number } {
  const where = and(
    filter.action === undefined ? undefined : eq(auditLog.action, filter.action),
    filter.projectId === undefined ? undefined : eq(auditLog.projectId, filter.projectId),
    filter.actions === undefined
      ? undefined
      : or(inList(auditLog.action, filter.actions), inList(auditLog.undoAction, filter.actions)),
    filter.actorId === undefined ? undefined : eq(auditLog.actorId, filter.actorId),
    filter.from === undefined ? undefined : gte(auditLog.at, filter.from),
    filter.to === undefined ? undefined : lte(auditLog.at, filter.to),
  )
  const matching = db.select().from(auditLog).where(where).$dynamic()
  return {
    rows: inPage(matching, page, auditLog.at, auditLog.id).all(),
    total: where === undefined ? countAll(db) : countRows(db, auditLog, where),
  }
}

/** The number of the last row: none is ever removed, which a trigger of the table ensures, so counting is not needed. */
const countAll = (db: DbOrTx): number =>
  db.select({ n: sql<number | null>`max(rowid)` }).from(auditLog).get()?.n ?? 0

export const findAuditRow = ({ orm }: Db, id: string): AuditRow | undefined =>
  orm.select().from(auditLog).where(eq(auditLog.id, id)).get()

export const listAuditRows = (db: DbOrTx, ids: readonly string[]): AuditRow[] =>
  ids.length === 0 ? [] : db.select().from(auditLog).where(inList(auditLog.id, ids)).all()

/** The entries that undid these, by the id of the undone. */
export const undoneByOf = (db: Db, ids: readonly string[]): Map<string, string> =>
  new Map(
    prepared<{ id: string; undoOf: string }>(
      db,
      `SELECT id, undo_of AS undoOf FROM audit_log
       WHERE undo_of IN (SELECT value FROM json_each(?)) AND undo_of IS NOT NULL`,
    )
      .all(JSON.stringify(ids))
      .map(({ id, undoOf }) => [undoOf, id]),
  )

/** `owner/name` of those that exist, by id. */
export const projectNames = (db: Db, ids: readonly string[]): Map<string, string> =>
  new Map(
    prepared<{ id: string; name: string }>(
      db,
      `SELECT id, owner || '/' || name AS name FROM projects WHERE id IN (SELECT value FROM json_each(?))`,
    )
      .all(JSON.stringify(ids))
      .map(({ id, name }) => [id, name]),
  )

/** Those who have entries, with the name of their newest one. Steps from one to the next, as there may be very many entries. */
export const selectActors = (db: Db, limit: number): { id: string; name: string | null }[] =>
  prepared<{ id: string; name: string | null }>(
    db,
    `WITH RECURSIVE actors (id) AS (
       SELECT min(actor_id) FROM audit_log
       UNION ALL SELECT (SELECT min(actor_id) FROM audit_log WHERE actor_id > actors.id) FROM actors
         WHERE actors.id IS NOT NULL LIMIT ?)
     SELECT id, (SELECT actor_name FROM audit_log WHERE actor_id = actors.id ORDER BY at DESC, id DESC LIMIT 1) AS name
     FROM actors WHERE id IS NOT NULL ORDER BY name`,
  ).all(limit)

/** Those who made one of the newest entries of a project, with the name of their newest one. */
export const selectActorsOf = (
  db: Db,
  projectId: string,
  newest: number,
): { id: string; name: string | null }[] =>
  prepared<{ id: string; name: string | null }>(
    db,
    // With max() the other columns are those of its row.
    `SELECT id, name FROM (
       SELECT actor_id AS id, actor_name AS name, max(at) FROM (
         SELECT actor_id, actor_name, at FROM audit_log WHERE project_id = ? ORDER BY at DESC, id DESC LIMIT ?)
       WHERE actor_id IS NOT NULL GROUP BY actor_id)
     ORDER BY name`,
  ).all(projectId, newest)
