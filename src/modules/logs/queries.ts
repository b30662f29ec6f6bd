import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { auditLog } from '../../db/schema.ts'
import type { Page } from '../../domain/pagination.ts'

export type AuditRow = typeof auditLog.$inferSelect

/** Times in milliseconds, both ends included. */
export type AuditFilter = {
  action: string | undefined
  projectId: string | undefined
  actorId: string | undefined
  from: number | undefined
  to: number | undefined
}

export function selectAudit(
  db: DbOrTx,
  filter: AuditFilter,
  page: Page<'at'>,
): { rows: AuditRow[]; total: number } {
  const where = and(
    filter.action === undefined ? undefined : eq(auditLog.action, filter.action),
    filter.projectId === undefined ? undefined : eq(auditLog.projectId, filter.projectId),
    filter.actorId === undefined ? undefined : eq(auditLog.actorId, filter.actorId),
    filter.from === undefined ? undefined : gte(auditLog.at, filter.from),
    filter.to === undefined ? undefined : lte(auditLog.at, filter.to),
  )
  const direction = page.order === 'asc' ? asc : desc
  const rows = db
    .select()
    .from(auditLog)
    .where(where)
    .orderBy(direction(auditLog.at), direction(auditLog.id))
    .limit(page.limit)
    .offset(page.offset)
    .all()
  return { rows, total: db.select({ n: sql<number>`count(*)` }).from(auditLog).where(where).get()?.n ?? 0 }
}
