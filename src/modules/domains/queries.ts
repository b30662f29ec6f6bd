import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { domains } from '../../db/schema.ts'
import type { Page } from '../../domain/pagination.ts'

export type DomainRow = typeof domains.$inferSelect

export type DomainFilter = {
  /** Null: all of them. */
  projectIds: string[] | null
  projectId?: string | undefined
  hostname?: string | undefined
}

export type DomainSort = 'createdAt' | 'hostname'

const SORT = { createdAt: domains.createdAt, hostname: domains.hostname }

export function findDomain(db: DbOrTx, id: string): DomainRow | undefined {
  return db.select().from(domains).where(eq(domains.id, id)).get()
}

export function findDomainByHost(db: DbOrTx, hostname: string): DomainRow | undefined {
  return db.select().from(domains).where(eq(domains.hostname, hostname)).get()
}

export function listDomainRows(db: DbOrTx, filter: DomainFilter, page: Page<DomainSort>): DomainRow[] {
  const direction = page.order === 'asc' ? asc : desc
  return db
    .select()
    .from(domains)
    .where(conditionOf(filter))
    .orderBy(direction(SORT[page.sort]), direction(domains.id))
    .limit(page.limit)
    .offset(page.offset)
    .all()
}

export function countDomains(db: DbOrTx, filter: DomainFilter): number {
  const counted = db.select({ count: sql<number>`count(*)` }).from(domains).where(conditionOf(filter)).get()
  return counted?.count ?? 0
}

export function insertDomain(db: DbOrTx, domain: DomainRow): void {
  db.insert(domains).values(domain).run()
}

export type DomainPatch = Partial<Omit<DomainRow, 'id' | 'projectId' | 'hostname' | 'createdAt'>>

export function updateDomain(db: DbOrTx, id: string, patch: DomainPatch): void {
  db.update(domains).set(patch).where(eq(domains.id, id)).run()
}

export function deleteDomainRow(db: DbOrTx, id: string): void {
  db.delete(domains).where(eq(domains.id, id)).run()
}

function conditionOf({ projectIds, projectId, hostname }: DomainFilter): SQL | undefined {
  return and(
    projectIds === null
      ? undefined
      : sql`${domains.projectId} IN (SELECT value FROM json_each(${JSON.stringify(projectIds)}))`,
    projectId === undefined ? undefined : eq(domains.projectId, projectId),
    hostname === undefined ? undefined : eq(domains.hostname, hostname.toLowerCase()),
  )
}
