import type { Db } from '../db/open.ts'
import { prepared } from '../db/statements.ts'
import type { ProjectRole } from '../domain/roles.ts'

/** A mapped host as stored, with its traffic split if it has one. */
export type MappingRow = {
  domainId: string
  projectId: string
  hostname: string
  alias: string
  pathPrefix: string
  isPublic: number | null
  isSpa: number | null
  requiredRole: ProjectRole | null
  redirectTo: string | null
  challenge: string
  /** How many projects map the host, this one included. */
  claims: number
  verifiedAt: number | null
  updatedAt: number
  weights: string | null
  rules: string | null
  sticky: number | null
  stickySeconds: number | null
}

/** The proven mapping of the host, else the oldest claim. One indexed read. */
export function findMapping(db: Db, hostname: string): MappingRow | null {
  return prepared<MappingRow>(
    db,
    `SELECT d.id AS domainId, d.project_id AS projectId, d.hostname, d.alias, d.path_prefix AS pathPrefix,
              d.is_public AS isPublic, d.is_spa AS isSpa, d.required_role AS requiredRole, d.redirect_to AS redirectTo,
              d.challenge, (SELECT count(*) FROM domains c WHERE c.hostname = d.hostname) AS claims,
              d.verified_at AS verifiedAt, d.updated_at AS updatedAt,
              t.weights, t.rules, t.sticky, t.sticky_seconds AS stickySeconds
       FROM domains d LEFT JOIN traffic t ON t.domain_id = d.id WHERE d.hostname = ?
       ORDER BY d.verified_at IS NULL, d.created_at LIMIT 1`,
  ).get(hostname)
}
