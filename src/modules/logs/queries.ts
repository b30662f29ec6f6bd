import { and, eq, gte, lte, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { auditLog } from '../../db/schema-audit.ts'
import { countRows, inPage } from '../../db/select.ts'
import type { Page } from '../../domain/pagination.ts'

export type AuditRow = typeof auditLog.$inferSelect

/** Times in milliseconds, both ends included. */
type AuditFilter = {
  action: string | undefined
  projectId: string | undefined
  actorId: string | undefined
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
