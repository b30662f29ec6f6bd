import { and, asc, count, eq, inArray, isNull, ne, or, type SQL } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { proxyRules, ruleSets } from '../../db/schema-rules.ts'
import { schedules } from '../../db/schema-schedules.ts'
import { countRows } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'

export type ScheduleRow = typeof schedules.$inferSelect
export type SchedulePatch = Partial<Omit<ScheduleRow, 'id' | 'projectId' | 'createdAt'>>

/** A schedule, the rule that it runs, and the set of that rule. */
export type ScheduleRecord = ScheduleRow & {
  rule: { pathPattern: string; pipelineConfig: string | null; proxyType: string }
  set: {
    isPreview: boolean
    repo: string | null
    path: string | null
    gitSha: string | null
    syncedAt: number | null
  } | null
}

const joined = (db: DbOrTx) =>
  db
    .select({
      schedule: schedules,
      rule: {
        pathPattern: proxyRules.pathPattern,
        pipelineConfig: proxyRules.pipelineConfig,
        proxyType: proxyRules.proxyType,
      },
      set: {
        isPreview: ruleSets.isPreview,
        repo: ruleSets.sourceRepo,
        path: ruleSets.sourcePath,
        gitSha: ruleSets.sourceGitSha,
        syncedAt: ruleSets.syncedAt,
      },
    })
    .from(schedules)
    .innerJoin(proxyRules, eq(proxyRules.id, schedules.ruleId))
    .leftJoin(ruleSets, eq(ruleSets.id, schedules.ruleSetId))

const toRecord = ({
  schedule,
  ...about
}: { schedule: ScheduleRow } & Pick<ScheduleRecord, 'rule' | 'set'>): ScheduleRecord => ({
  ...schedule,
  ...about,
})

export function findSchedule(db: DbOrTx, id: string): ScheduleRecord | undefined {
  const found = joined(db).where(eq(schedules.id, id)).get()
  return found === undefined ? undefined : toRecord(found)
}

const listWhere = (db: DbOrTx, condition: SQL | undefined): ScheduleRecord[] =>
  joined(db)
    .where(condition)
    .orderBy(asc(schedules.name), asc(schedules.createdAt), asc(schedules.id))
    .all()
    .map(toRecord)

/** By name. */
export const listSchedulesOf = (db: DbOrTx, projectId: string): ScheduleRecord[] =>
  listWhere(db, eq(schedules.projectId, projectId))

/** Those of the files of a set, by name. */
export const listPushed = (db: DbOrTx, ruleSetId: string): ScheduleRecord[] =>
  listWhere(db, and(eq(schedules.ruleSetId, ruleSetId), eq(schedules.isPushed, true)))

/** They go with their rules. */
export const listSchedulesOfRules = (db: DbOrTx, ruleIds: readonly string[]): ScheduleRow[] =>
  ruleIds.length === 0
    ? []
    : db
        .select()
        .from(schedules)
        .where(inArray(schedules.ruleId, [...ruleIds]))
        .all()

export const findScheduleOfSet = (db: DbOrTx, ruleSetId: string, name: string): ScheduleRow | undefined =>
  db
    .select()
    .from(schedules)
    .where(and(eq(schedules.ruleSetId, ruleSetId), eq(schedules.name, name)))
    .get()

/** Those that count for the limit of a project: preview copies do not. */
export function countSchedulesOf(db: DbOrTx, projectId: string): number {
  const isNoCopy = or(isNull(ruleSets.isPreview), ne(ruleSets.isPreview, true))
  const found = db
    .select({ count: count() })
    .from(schedules)
    .leftJoin(ruleSets, eq(ruleSets.id, schedules.ruleSetId))
    .where(and(eq(schedules.projectId, projectId), isNoCopy))
    .get()
  return found?.count ?? 0
}

export const countSchedulesOfSet = (db: DbOrTx, ruleSetId: string): number =>
  countRows(db, schedules, eq(schedules.ruleSetId, ruleSetId))

export const insertSchedule = (db: DbOrTx, row: ScheduleRow): void =>
  void db.insert(schedules).values(row).run()

export const updateSchedule = (db: DbOrTx, id: string, patch: SchedulePatch): void =>
  void db.update(schedules).set(patch).where(eq(schedules.id, id)).run()

export const deleteScheduleRow = (db: DbOrTx, id: string): void =>
  void db.delete(schedules).where(eq(schedules.id, id)).run()

export const countAllSchedules = (db: Db): number =>
  prepared<{ count: number }>(db, 'SELECT count(*) AS count FROM schedules').get()?.count ?? 0

/** Whether anything is to come, or was under way when the server stopped. */
export const hasAnythingToRun = (db: Db): boolean =>
  prepared(
    db,
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM schedules WHERE next_run_at IS NOT NULL)
       OR EXISTS (SELECT 1 FROM schedules WHERE fired_at IS NOT NULL)`,
  ).get() !== null
