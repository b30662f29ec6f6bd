import type { Context } from '../../context.ts'
import { listHostsOf } from './queries.ts'

/** How many hosts of a project wait for their proof, and how many have no valid certificate. */
type DomainTrouble = { unproven: number; uncertified: number }

/** By project id; projects without trouble are left out. */
export function domainTroubles(
  ctx: Context,
  projectIds: readonly string[],
): ReadonlyMap<string, DomainTrouble> {
  const troubles = new Map<string, DomainTrouble>()
  for (const { projectId, hostname, verifiedAt } of listHostsOf(ctx.db.orm, projectIds)) {
    const { status } = ctx.certificates.stateOf(hostname)
    const isProven = verifiedAt !== null
    const isUncertified = isProven && (status === 'failed' || status === 'expired')
    if (isProven && !isUncertified) continue
    const { unproven, uncertified } = troubles.get(projectId) ?? { unproven: 0, uncertified: 0 }
    troubles.set(projectId, {
      unproven: unproven + (isProven ? 0 : 1),
      uncertified: uncertified + (isUncertified ? 1 : 0),
    })
  }
  return troubles
}
