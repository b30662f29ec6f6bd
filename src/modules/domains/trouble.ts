import type { Context } from '../../context.ts'

/** Of a project: how many hosts wait for their proof, and how many have no good certificate. */
type DomainTrouble = { unproven: number; uncertified: number }

/** By project id; those without trouble are left out. */
export function domainTroubles(
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, DomainTrouble> {
  const rows = ctx.db.sqlite
    .query<{ projectId: string; hostname: string; isProven: 0 | 1 }, [string]>(
      `SELECT project_id AS projectId, hostname, verified_at IS NOT NULL AS isProven FROM domains
       WHERE project_id IN (SELECT value FROM json_each(?))`,
    )
    .all(JSON.stringify(projectIds))
  const troubles = new Map<string, DomainTrouble>()
  for (const { projectId, hostname, isProven } of rows) {
    const { status } = ctx.certificates.stateOf(hostname)
    const isUncertified = isProven === 1 && (status === 'failed' || status === 'expired')
    if (isProven === 1 && !isUncertified) continue
    const { unproven, uncertified } = troubles.get(projectId) ?? { unproven: 0, uncertified: 0 }
    troubles.set(projectId, {
      unproven: unproven + (isProven === 1 ? 0 : 1),
      uncertified: uncertified + (isUncertified ? 1 : 0),
    })
  }
  return troubles
}
