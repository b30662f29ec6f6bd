import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { ReleaseChecks } from '../../domain/release-checks.ts'

export const parsed = (row: { checks: string } | null): ReleaseChecks | null =>
  row === null ? null : (JSON.parse(row.checks) as ReleaseChecks)

export const findProjectChecks = (db: Db, projectId: string): ReleaseChecks | null =>
  parsed(
    prepared<{ checks: string }>(db, 'SELECT checks FROM release_checks WHERE project_id = ?').get(projectId),
  )

export function putProjectChecks(db: Db, projectId: string, checks: ReleaseChecks): void {
  prepared(
    db,
    `INSERT INTO release_checks (project_id, checks) VALUES (?, ?)
     ON CONFLICT (project_id) DO UPDATE SET checks = excluded.checks`,
  ).run(projectId, JSON.stringify(checks))
}

export function deleteProjectChecks(db: Db, projectId: string): void {
  prepared(db, 'DELETE FROM release_checks WHERE project_id = ?').run(projectId)
}
