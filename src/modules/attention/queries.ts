import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

const AMONG = '(SELECT value FROM json_each(?))'
const among = (ids: readonly string[]): string => JSON.stringify(ids)

type UnprovenRow = {
  id: string
  projectId: string
  hostname: string
  verifiedAt: number | null
  createdAt: number
}

export const listMappedHosts = (db: Db, projectIds: readonly string[]): UnprovenRow[] =>
  prepared<UnprovenRow>(
    db,
    `SELECT id, project_id AS projectId, hostname, verified_at AS verifiedAt, created_at AS createdAt
     FROM domains WHERE project_id IN ${AMONG}`,
  ).all(among(projectIds))

type StartlessRow = { projectId: string; alias: string; deploymentId: string; at: number }

/** Aliases whose folder of their deployment has no `index.html`. */
export const listStartless = (db: Db, projectIds: readonly string[]): StartlessRow[] =>
  prepared<StartlessRow>(
    db,
    `SELECT a.project_id AS projectId, a.name AS alias, a.deployment_id AS deploymentId, d.created_at AS at
     FROM aliases a JOIN deployments d ON d.id = a.deployment_id
     WHERE a.project_id IN ${AMONG} AND NOT EXISTS
       (SELECT 1 FROM assets f WHERE f.deployment_id = a.deployment_id
          AND f.path = substr(a.base_path || '/index.html', 2))`,
  ).all(among(projectIds))

type HeldRow = {
  projectId: string
  alias: string
  deploymentId: string
  number: number
  /** Whether no check held it back, but a question about its start page. */
  isAsked: 0 | 1
  at: number
}

/** The newest publish for each alias, where it was held back and nobody moved the alias since. */
export const listHeld = (db: Db, projectIds: readonly string[]): HeldRow[] =>
  prepared<HeldRow>(
    db,
    `SELECT d.project_id AS projectId, json_extract(h.held, '$.alias') AS alias, h.deployment_id AS deploymentId,
            d.number, json_type(h.held, '$.question') IS NOT NULL AS isAsked, max(d.created_at) AS at
     FROM held_releases h CROSS JOIN deployments d ON d.id = h.deployment_id
     WHERE d.project_id IN ${AMONG}
     GROUP BY d.project_id, json_extract(h.held, '$.alias') COLLATE NOCASE
     HAVING NOT EXISTS
       (SELECT 1 FROM aliases a JOIN alias_history m ON m.alias_id = a.id
        WHERE a.project_id = d.project_id AND a.name = json_extract(h.held, '$.alias')
          AND m.moved_at > d.created_at)`,
  ).all(among(projectIds))

type FailingRow = {
  projectId: string
  ruleId: string
  id: string
  pathPattern: string
  status: number
  startedAt: number
}

/** The newest run of each rule whose last `count` runs failed. */
export const listFailingRules = (db: Db, projectIds: readonly string[], count: number): FailingRow[] =>
  prepared<FailingRow>(
    db,
    `WITH failing AS (
       SELECT r.project_id, r.rule_id, max(r.id) AS newest,
         (SELECT f.id FROM pipeline_runs f WHERE f.project_id = r.project_id AND f.rule_id = r.rule_id
            AND f.status >= 500 ORDER BY f.id DESC LIMIT 1 OFFSET ?2) AS since
       FROM pipeline_runs r WHERE r.status >= 500 AND r.project_id IN (SELECT value FROM json_each(?1))
       GROUP BY r.project_id, r.rule_id)
     SELECT n.project_id AS projectId, n.rule_id AS ruleId, n.id, n.path_pattern AS pathPattern, n.status,
            n.started_at AS startedAt
     FROM failing JOIN pipeline_runs n ON n.project_id = failing.project_id AND n.id = failing.newest
     WHERE since IS NOT NULL
       AND EXISTS (SELECT 1 FROM proxy_rules p WHERE p.id = n.rule_id AND p.is_enabled)
       AND NOT EXISTS (SELECT 1 FROM pipeline_runs g WHERE g.project_id = failing.project_id AND g.id > since
                         AND g.rule_id = failing.rule_id AND g.status < 500)`,
  ).all(among(projectIds), count - 1)

type NamingRow = {
  id: string
  projectId: string
  pathPattern: string
  proxyType: string
  pipelineConfig: string | null
  headerConfig: string | null
  updatedAt: number
}

/** Enabled rules that may name a secret or a header without a value. */
export const listNamingRules = (db: Db, projectIds: readonly string[]): NamingRow[] =>
  prepared<NamingRow>(
    db,
    `SELECT id, project_id AS projectId, path_pattern AS pathPattern, proxy_type AS proxyType,
            pipeline_config AS pipelineConfig, header_config AS headerConfig, updated_at AS updatedAt
     FROM proxy_rules WHERE project_id IN ${AMONG} AND is_enabled
       AND ((proxy_type = 'pipeline' AND instr(pipeline_config, 'secrets')) OR instr(header_config, '":""'))`,
  ).all(among(projectIds))

export const listSecretNames = (
  db: Db,
  projectIds: readonly string[],
): { projectId: string; name: string }[] =>
  prepared<{ projectId: string; name: string }>(
    db,
    `SELECT project_id AS projectId, name FROM project_secrets WHERE project_id IN ${AMONG}`,
  ).all(among(projectIds))

type OffRow = { id: string; projectId: string | null; name: string; updatedAt: number }

/** Webhooks that were switched off because their receiver is gone. */
export const listHooksOff = (db: Db): OffRow[] =>
  prepared<OffRow>(
    db,
    `SELECT id, project_id AS projectId, name, updated_at AS updatedAt FROM webhooks WHERE disabled_reason IS NOT NULL`,
  ).all()

/** When the first account was made; null before set-up. */
export const findFirstAccountAt = (db: Db): number | null =>
  prepared<{ at: number | null }>(db, 'SELECT min(created_at) AS at FROM users').get()?.at ?? null
