import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { domains } from '../../db/schema-domains.ts'
import { countRows, inList, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'
import type { Page } from '../../domain/pagination.ts'

export type DomainRow = typeof domains.$inferSelect

export type DomainFilter = {
  /** Null: all projects. */
  projectIds: string[] | null
  projectId?: string | undefined
  hostname?: string | undefined
}

type DomainSort = 'createdAt' | 'hostname'

const SORT = { createdAt: domains.createdAt, hostname: domains.hostname }

export function findDomain(db: DbOrTx, id: string): DomainRow | undefined {
  return db.select().from(domains).where(eq(domains.id, id)).get()
}

/** Whether the host (normalised) is mapped, proven or not. */
export const isHostMapped = (db: DbOrTx, hostname: string): boolean =>
  db.select({ id: domains.id }).from(domains).where(eq(domains.hostname, hostname)).limit(1).get() !==
  undefined

/** Whether a project has proven the host: only that one can use it. */
export const isHostProven = (db: DbOrTx, hostname: string): boolean =>
  db
    .select({ id: domains.id })
    .from(domains)
    .where(and(eq(domains.hostname, hostname), isNotNull(domains.verifiedAt)))
    .get() !== undefined

/** Whether another project has proven the host of a deleted domain since that was deleted; its own entry is the newest. */
export const wasProvenElsewhere = (db: Db, { id, projectId, hostname }: DomainRow): boolean =>
  prepared<{ found: number }>(
    db,
    `SELECT 1 AS found FROM audit_log WHERE target_name = ?1 AND project_id <> ?2 AND target_kind = 'domain'
       AND (coalesce(undo_action, action) = 'domain.verify' OR after ->> 'verifiedAt' IS NOT NULL)
       AND rowid > (SELECT max(rowid) FROM audit_log
                     WHERE project_id = ?2 AND action IN ('domain.delete', 'undo') AND target_id = ?3) LIMIT 1`,
  ).get(hostname, projectId, id) !== null

/** How many projects claim the host without a proof. */
export const countClaims = (db: DbOrTx, hostname: string): number =>
  countRows(db, domains, and(eq(domains.hostname, hostname), isNull(domains.verifiedAt)))

/** Deletes at most `limit` of the claims made before that time, with their traffic splits. Returns how many. */
export function deleteClaimsBefore(db: Db, before: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM domains WHERE id IN
       (SELECT id FROM domains WHERE verified_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?)`,
  ).run(before, limit).changes
}

export function listDomainRows(db: DbOrTx, filter: DomainFilter, page: Page<DomainSort>): DomainRow[] {
  const matching = db.select().from(domains).where(conditionOf(filter)).$dynamic()
  return inPage(matching, page, SORT[page.sort], domains.id).all()
}

export const countDomains = (db: DbOrTx, filter: DomainFilter): number =>
  countRows(db, domains, conditionOf(filter))

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
    projectIds === null ? undefined : inList(domains.projectId, projectIds),
    projectId === undefined ? undefined : eq(domains.projectId, projectId),
    hostname === undefined ? undefined : eq(domains.hostname, hostname.toLowerCase()),
  )
}

type ProvenHost = { host: string; projectId: string }

/** Proven domains, the first of every project before the second of any, so that large projects delay nobody. */
export function listProvenHosts(db: DbOrTx): ProvenHost[] {
  const rank = sql`row_number() OVER (PARTITION BY ${domains.projectId} ORDER BY ${domains.verifiedAt})`
  return db
    .select({ host: domains.hostname, projectId: domains.projectId })
    .from(domains)
    .where(isNotNull(domains.verifiedAt))
    .orderBy(rank, domains.verifiedAt)
    .all()
}
