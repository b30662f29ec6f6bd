import { and, asc, count, eq, inArray, isNull, max, type SQL } from 'drizzle-orm'
import type { DbOrTx } from '../../db/open.ts'
import { proxyRules, ruleSetAliases, ruleSets } from '../../db/schema-rules.ts'

export type RuleRow = typeof proxyRules.$inferSelect

/** Where its rule set is managed; null for a rule made by hand. */
type RuleOrigin = {
  repo: string | null
  path: string | null
  gitSha: string | null
  syncedAt: number | null
} | null

export type RuleRecord = RuleRow & { origin: RuleOrigin }

/** The rules of one alias, or those of the project for all of its sites. */
export type RuleLevel = { projectId: string; aliasId: string | null }

const columns = {
  rule: proxyRules,
  repo: ruleSets.sourceRepo,
  path: ruleSets.sourcePath,
  gitSha: ruleSets.sourceGitSha,
  syncedAt: ruleSets.syncedAt,
}

type Joined = { rule: RuleRow } & { [K in keyof NonNullable<RuleOrigin>]: NonNullable<RuleOrigin>[K] }

const toRecord = ({ rule, ...origin }: Joined): RuleRecord => ({
  ...rule,
  origin: rule.ruleSetId === null ? null : origin,
})

const joined = (db: DbOrTx) =>
  db.select(columns).from(proxyRules).leftJoin(ruleSets, eq(ruleSets.id, proxyRules.ruleSetId))

const byOrder = [asc(proxyRules.order), asc(proxyRules.createdAt), asc(proxyRules.id)]

export function findRule(db: DbOrTx, id: string): RuleRecord | undefined {
  const found = joined(db).where(eq(proxyRules.id, id)).get()
  return found === undefined ? undefined : toRecord(found)
}

/** In the order they are tried: first those made by hand, then the sets that are live there. contract §8. */
export function listRulesOfLevel(db: DbOrTx, level: RuleLevel): RuleRecord[] {
  return [
    ...listHandMade(db, level),
    ...(level.aliasId === null ? listProjectSets : listAliasSets)(db, level),
  ]
}

export function listHandMade(db: DbOrTx, level: RuleLevel): RuleRecord[] {
  return joined(db)
    .where(handMadeOf(level))
    .orderBy(...byOrder)
    .all()
    .map(toRecord)
}

/** Rules of sets that are live for the whole project, the oldest set first. */
function listProjectSets(db: DbOrTx, { projectId }: RuleLevel): RuleRecord[] {
  return db
    .select(columns)
    .from(ruleSets)
    .innerJoin(proxyRules, eq(proxyRules.ruleSetId, ruleSets.id))
    .where(and(eq(ruleSets.projectId, projectId), eq(ruleSets.liveOn, 'project')))
    .orderBy(asc(ruleSets.createdAt), asc(ruleSets.id), ...byOrder)
    .all()
    .map(toRecord)
}

/** Rules of sets attached to the alias, in the order of attachment. */
function listAliasSets(db: DbOrTx, { aliasId }: RuleLevel): RuleRecord[] {
  return db
    .select(columns)
    .from(ruleSetAliases)
    .innerJoin(ruleSets, eq(ruleSets.id, ruleSetAliases.ruleSetId))
    .innerJoin(proxyRules, eq(proxyRules.ruleSetId, ruleSets.id))
    .where(eq(ruleSetAliases.aliasId, aliasId ?? ''))
    .orderBy(asc(ruleSetAliases.position), asc(ruleSets.id), ...byOrder)
    .all()
    .map(toRecord)
}

export function listSetRules(db: DbOrTx, setId: string): RuleRow[] {
  return db
    .select()
    .from(proxyRules)
    .where(eq(proxyRules.ruleSetId, setId))
    .orderBy(...byOrder)
    .all()
}

export function listPipelines(db: DbOrTx, projectId: string): RuleRow[] {
  return db
    .select()
    .from(proxyRules)
    .where(and(eq(proxyRules.projectId, projectId), eq(proxyRules.proxyType, 'pipeline')))
    .orderBy(...byOrder)
    .all()
}

/** The pipelines of a project that are switched on and were last written by somebody below project admin. */
export function listUnvouchedPipelines(db: DbOrTx, projectId: string): RuleRow[] {
  return db
    .select()
    .from(proxyRules)
    .where(
      and(
        eq(proxyRules.projectId, projectId),
        eq(proxyRules.proxyType, 'pipeline'),
        eq(proxyRules.isEnabled, true),
        eq(proxyRules.isWrittenByAdmin, false),
      ),
    )
    .orderBy(...byOrder)
    .all()
}

export function countSetRules(db: DbOrTx, setIds: readonly string[]): Map<string, number> {
  const rows = db
    .select({ setId: proxyRules.ruleSetId, count: count() })
    .from(proxyRules)
    .where(inArray(proxyRules.ruleSetId, [...setIds]))
    .groupBy(proxyRules.ruleSetId)
    .all()
  return new Map(rows.map((row) => [row.setId ?? '', row.count]))
}

/** The number after the last rule of the level that was made by hand. */
export function nextOrder(db: DbOrTx, level: RuleLevel): number {
  const last = db
    .select({ order: max(proxyRules.order) })
    .from(proxyRules)
    .where(handMadeOf(level))
    .get()?.order
  return last === null || last === undefined ? 0 : last + 1
}

export function insertRule(db: DbOrTx, rule: RuleRow): void {
  db.insert(proxyRules).values(rule).run()
}

export type RulePatch = Partial<Omit<RuleRow, 'id' | 'projectId' | 'aliasId' | 'ruleSetId' | 'createdAt'>>

export function updateRule(db: DbOrTx, id: string, patch: RulePatch): void {
  db.update(proxyRules).set(patch).where(eq(proxyRules.id, id)).run()
}

export function deleteRuleRow(db: DbOrTx, id: string): void {
  db.delete(proxyRules).where(eq(proxyRules.id, id)).run()
}

function handMadeOf({ projectId, aliasId }: RuleLevel): SQL | undefined {
  return and(
    eq(proxyRules.projectId, projectId),
    aliasId === null ? isNull(proxyRules.aliasId) : eq(proxyRules.aliasId, aliasId),
    isNull(proxyRules.ruleSetId),
  )
}
