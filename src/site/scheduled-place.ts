import type { Db } from '../db/open.ts'
import { prepared } from '../db/statements.ts'

/** What a scheduled run shows as its deployment; `alias` and the `label` of its host null where only the newest deployment is left, or none. */
export type ScheduledPlace = { commitSha: string; alias: string | null; label: string | null }

const ALIAS = `SELECT a.name AS alias, d.commit_sha AS commitSha,
    (SELECT label FROM host_labels WHERE alias_id = a.id LIMIT 1) AS label FROM aliases a JOIN deployments d ON d.id = a.deployment_id`

/**
 * The alias of the rule, the first that its set is attached to, `production`, or the newest deployment: what is there first.
 * contract 14.6.
 */
export function scheduledPlace(
  db: Db,
  { projectId, aliasId, ruleSetId }: { projectId: string; aliasId: string | null; ruleSetId: string | null },
): ScheduledPlace {
  const found =
    (aliasId === null ? null : prepared<ScheduledPlace>(db, `${ALIAS} WHERE a.id = ?`).get(aliasId)) ??
    (ruleSetId === null ? null : firstAttached(db, ruleSetId)) ??
    prepared<ScheduledPlace>(db, `${ALIAS} WHERE a.project_id = ? AND a.name = 'production'`).get(
      projectId,
    ) ??
    prepared<ScheduledPlace>(
      db,
      `SELECT NULL AS alias, NULL AS label, commit_sha AS commitSha FROM deployments WHERE project_id = ? ORDER BY created_at DESC, id DESC LIMIT 1`,
    ).get(projectId)
  return found ?? { alias: null, label: null, commitSha: '' }
}

const firstAttached = (db: Db, ruleSetId: string): ScheduledPlace | null =>
  prepared<ScheduledPlace>(
    db,
    `${ALIAS} JOIN rule_set_aliases r ON r.alias_id = a.id WHERE r.rule_set_id = ? ORDER BY a.name LIMIT 1`,
  ).get(ruleSetId)
