import { and, eq, gte, lt, type SQL } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { pipelineRuns } from '../../db/schema-records.ts'
import { countRows, inPage } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'

export type RunRow = typeof pipelineRuns.$inferSelect

export function insertRun(db: Db, run: RunRow): void {
  prepared(
    db,
    `INSERT INTO pipeline_runs (project_id, id, rule_id, rule_name, phase, path_pattern, method, path, status, duration_ms,
      failed_step, error, steps, started_at, names_secret, triggered_by, schedule_id)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17 WHERE EXISTS (SELECT 1 FROM projects WHERE id = ?1)`,
  ).run(
    run.projectId,
    run.id,
    run.ruleId,
    run.ruleName,
    run.phase,
    run.pathPattern,
    run.method,
    run.path,
    run.status,
    run.durationMs,
    run.failedStep,
    run.error,
    run.steps,
    run.startedAt,
    Number(run.namesSecret),
    run.trigger,
    run.scheduleId,
  )
}

type RunFilter = {
  projectId: string
  ruleId?: string | undefined
  status?: number | undefined
  /** From the first status up to, but not including, the second. */
  between?: readonly [from: number, before: number] | undefined
}

const matching = ({ projectId, ruleId, status, between }: RunFilter): SQL | undefined =>
  and(
    eq(pipelineRuns.projectId, projectId),
    ruleId === undefined ? undefined : eq(pipelineRuns.ruleId, ruleId),
    status === undefined ? undefined : eq(pipelineRuns.status, status),
    between === undefined ? undefined : gte(pipelineRuns.status, between[0]),
    between === undefined ? undefined : lt(pipelineRuns.status, between[1]),
  )

export function listRunRows(
  db: DbOrTx,
  filter: RunFilter,
  page: { limit: number; offset: number; order: 'asc' | 'desc' },
): RunRow[] {
  const found = db.select().from(pipelineRuns).where(matching(filter)).$dynamic()
  return inPage(found, page, pipelineRuns.id).all()
}

export const countRuns = (db: DbOrTx, filter: RunFilter): number =>
  countRows(db, pipelineRuns, matching(filter))

export function findRunRow(db: DbOrTx, projectId: string, id: string): RunRow | undefined {
  return db
    .select()
    .from(pipelineRuns)
    .where(and(eq(pipelineRuns.projectId, projectId), eq(pipelineRuns.id, id)))
    .get()
}

/** Deletes up to `limit` runs beyond the `newest`; returns how many. Ids are created in time order. */
export function deleteRunsPast(db: Db, projectId: string, newest: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM pipeline_runs WHERE project_id = ?1 AND id IN
      (SELECT id FROM pipeline_runs WHERE project_id = ?1 ORDER BY id DESC LIMIT ?3 OFFSET ?2)`,
  ).run(projectId, newest, limit).changes
}

/** Deletes up to `limit` runs from before `before`; returns how many. */
export function deleteRunsBefore(db: Db, before: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM pipeline_runs WHERE (project_id, id) IN
      (SELECT project_id, id FROM pipeline_runs WHERE started_at < ? ORDER BY started_at LIMIT ?)`,
  ).run(before, limit).changes
}

/** Looks up each next project in the index: `DISTINCT` would read every run. */
export function listProjectsWithRuns(db: Db): string[] {
  return prepared<{ projectId: string }>(
    db,
    `WITH RECURSIVE found (id) AS (
       SELECT min(project_id) FROM pipeline_runs
       UNION ALL
       SELECT (SELECT min(project_id) FROM pipeline_runs WHERE project_id > found.id)
         FROM found WHERE id IS NOT NULL)
     SELECT id AS projectId FROM found WHERE id IS NOT NULL`,
  )
    .all()
    .map(({ projectId }) => projectId)
}
