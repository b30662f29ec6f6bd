import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { ReleaseChecks } from '../../domain/release-checks.ts'
import { parsed } from './queries.ts'

/** What the checks files say that were published with a deployment, by their paths. */

export const findDeploymentChecks = (db: Db, deploymentId: string, path: string): ReleaseChecks | null =>
  parsed(
    prepared<{ checks: string }>(
      db,
      'SELECT checks FROM deployment_checks WHERE deployment_id = ? AND path = ?',
    ).get(deploymentId, path),
  )

export function putDeploymentChecks(db: Db, deploymentId: string, path: string, checks: ReleaseChecks): void {
  prepared(
    db,
    `INSERT INTO deployment_checks (deployment_id, path, checks) VALUES (?, ?, ?)
     ON CONFLICT (deployment_id, path) DO UPDATE SET checks = excluded.checks`,
  ).run(deploymentId, path, JSON.stringify(checks))
}

/** Takes the checks files below a folder away; `below` is `''` for all, or such as `dist/`. */
export function deleteDeploymentChecks(db: Db, deploymentId: string, below: string): void {
  prepared(
    db,
    'DELETE FROM deployment_checks WHERE deployment_id = ?1 AND substr(path, 1, length(?2)) = ?2',
  ).run(deploymentId, below)
}

/** A version keeps what the one before had of the checks files that are not below a folder. */
export function keepDeploymentChecks(db: Db, from: string, to: string, below: string | null): void {
  prepared(
    db,
    `INSERT INTO deployment_checks (deployment_id, path, checks)
     SELECT ?2, path, checks FROM deployment_checks
     WHERE deployment_id = ?1 AND (?3 IS NULL OR substr(path, 1, length(?3)) <> ?3)`,
  ).run(from, to, below)
}
