import { and, asc, desc, eq, inArray, isNotNull, max, notInArray, or } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { aliases } from '../../db/schema.ts'
import { proxyRules, ruleSetAliases, ruleSetRevisions, ruleSets } from '../../db/schema-rules.ts'

export type RuleSetRow = typeof ruleSets.$inferSelect
export type RevisionRow = typeof ruleSetRevisions.$inferSelect

export function findSet(db: DbOrTx, id: string): RuleSetRow | undefined {
  return db.select().from(ruleSets).where(eq(ruleSets.id, id)).get()
}

export function findSetByName(db: DbOrTx, projectId: string, name: string): RuleSetRow | undefined {
  return db
    .select()
    .from(ruleSets)
    .where(and(eq(ruleSets.projectId, projectId), eq(ruleSets.name, name)))
    .get()
}

/** Oldest first, the order in which they are tried. */
export function listSets(db: DbOrTx, projectId: string): RuleSetRow[] {
  return db
    .select()
    .from(ruleSets)
    .where(eq(ruleSets.projectId, projectId))
    .orderBy(asc(ruleSets.createdAt), asc(ruleSets.id))
    .all()
}

export function insertSet(db: DbOrTx, row: RuleSetRow): void {
  db.insert(ruleSets).values(row).run()
}

export function updateSet(
  db: DbOrTx,
  id: string,
  patch: Partial<Omit<RuleSetRow, 'id' | 'projectId'>>,
): void {
  db.update(ruleSets).set(patch).where(eq(ruleSets.id, id)).run()
}

export function deleteSet(db: DbOrTx, id: string): void {
  db.delete(ruleSets).where(eq(ruleSets.id, id)).run()
}

type Attachment = { setId: string; aliasId: string; alias: string; position: number }

const attachments = (db: DbOrTx) =>
  db
    .select({
      setId: ruleSetAliases.ruleSetId,
      aliasId: aliases.id,
      alias: aliases.name,
      position: ruleSetAliases.position,
    })
    .from(ruleSetAliases)
    .innerJoin(aliases, eq(aliases.id, ruleSetAliases.aliasId))

export function listAttachments(db: DbOrTx, setIds: readonly string[]): Attachment[] {
  return attachments(db)
    .where(inArray(ruleSetAliases.ruleSetId, [...setIds]))
    .orderBy(asc(aliases.name))
    .all()
}

export function isAttached(db: DbOrTx, aliasId: string, setId: string): boolean {
  return (
    attachments(db)
      .where(and(eq(ruleSetAliases.aliasId, aliasId), eq(ruleSetAliases.ruleSetId, setId)))
      .get() !== undefined
  )
}

/** After those that are already attached to the alias. */
export function attach(db: DbOrTx, aliasId: string, setId: string): void {
  const last = db
    .select({ position: max(ruleSetAliases.position) })
    .from(ruleSetAliases)
    .where(eq(ruleSetAliases.aliasId, aliasId))
    .get()?.position
  db.insert(ruleSetAliases)
    .values({ aliasId, ruleSetId: setId, position: (last ?? -1) + 1 })
    .run()
}

export function detach(db: DbOrTx, aliasId: string, setId: string): void {
  db.delete(ruleSetAliases)
    .where(and(eq(ruleSetAliases.aliasId, aliasId), eq(ruleSetAliases.ruleSetId, setId)))
    .run()
}

export type RuledAlias = { id: string; name: string }

/** Aliases of the project that have their own rules or an attached rule set, by name. */
export function listRuledAliases(db: DbOrTx, projectId: string): RuledAlias[] {
  const own = db
    .select({ id: proxyRules.aliasId })
    .from(proxyRules)
    .where(and(eq(proxyRules.projectId, projectId), isNotNull(proxyRules.aliasId)))
  const named = db.select({ id: ruleSetAliases.aliasId }).from(ruleSetAliases)
  return db
    .select({ id: aliases.id, name: aliases.name })
    .from(aliases)
    .where(and(eq(aliases.projectId, projectId), or(inArray(aliases.id, own), inArray(aliases.id, named))))
    .orderBy(asc(aliases.name))
    .all()
}

/** In the order in which they are tried. */
export function listSetsOfAlias(db: DbOrTx, aliasId: string): RuleSetRow[] {
  return db
    .select({ set: ruleSets })
    .from(ruleSetAliases)
    .innerJoin(ruleSets, eq(ruleSets.id, ruleSetAliases.ruleSetId))
    .where(eq(ruleSetAliases.aliasId, aliasId))
    .orderBy(asc(ruleSetAliases.position), asc(ruleSets.id))
    .all()
    .map(({ set }) => set)
}

export function placeSet(db: DbOrTx, aliasId: string, setId: string, position: number): void {
  db.update(ruleSetAliases)
    .set({ position })
    .where(and(eq(ruleSetAliases.aliasId, aliasId), eq(ruleSetAliases.ruleSetId, setId)))
    .run()
}

/** Newest first. */
export function listRevisions(db: DbOrTx, setId: string, max: number): RevisionRow[] {
  return db
    .select()
    .from(ruleSetRevisions)
    .where(eq(ruleSetRevisions.ruleSetId, setId))
    .orderBy(desc(ruleSetRevisions.createdAt), desc(ruleSetRevisions.id))
    .limit(max)
    .all()
}

export function findRevision(db: DbOrTx, setId: string, id: string): RevisionRow | undefined {
  return db
    .select()
    .from(ruleSetRevisions)
    .where(and(eq(ruleSetRevisions.ruleSetId, setId), eq(ruleSetRevisions.id, id)))
    .get()
}

/** Keeps the newest `max`. */
export function insertRevision(db: DbOrTx, row: RevisionRow, max: number): void {
  db.insert(ruleSetRevisions).values(row).run()
  const kept = listRevisions(db, row.ruleSetId, max).map(({ id }) => id)
  db.delete(ruleSetRevisions)
    .where(and(eq(ruleSetRevisions.ruleSetId, row.ruleSetId), notInArray(ruleSetRevisions.id, kept)))
    .run()
}
