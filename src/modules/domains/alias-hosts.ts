import type { Db } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'

/** The hosts that need an alias: those mapped to it, and those whose traffic split names it. */
export type AliasHosts = { mapped: string[]; split: string[] }

/** Compares names case-insensitively, as aliases are unique. Domains keep the name, whatever becomes of the alias. */
export function hostsOfAlias(db: Db, projectId: string, alias: string): AliasHosts {
  const rows = prepared<{ hostname: string; isMapped: number }>(
    db,
    `SELECT d.hostname, d.alias = ?2 AS isMapped FROM domains d LEFT JOIN traffic t ON t.domain_id = d.id
     WHERE d.project_id = ?1 AND (d.alias = ?2
       OR EXISTS (SELECT 1 FROM json_each(t.weights) one WHERE one.value ->> 'alias' = ?2 COLLATE NOCASE)
       OR EXISTS (SELECT 1 FROM json_each(t.rules) one WHERE one.value ->> 'alias' = ?2 COLLATE NOCASE))
     ORDER BY d.hostname`,
  ).all(projectId, alias)
  const hosts = (isMapped: number) =>
    rows.filter((row) => row.isMapped === isMapped).map(({ hostname }) => hostname)
  return { mapped: hosts(1), split: hosts(0) }
}

/** The proven hosts that show all of an alias: neither a folder of it, nor a redirect. */
export const hostsShowing = (db: Db, projectId: string, alias: string): string[] =>
  prepared<{ hostname: string }>(
    db,
    `SELECT hostname FROM domains WHERE project_id = ? AND alias = ?
     AND path_prefix = '' AND redirect_to IS NULL AND verified_at IS NOT NULL ORDER BY hostname`,
  )
    .all(projectId, alias)
    .map(({ hostname }) => hostname)
