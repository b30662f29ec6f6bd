import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { clashLabel, hostLabel } from '../../domain/hostname.ts'
import { isHostMapped } from '../domains/mapped-hosts.ts'
import { findLabelOf, hasLabel, insertLabel, type LabelTarget } from './queries.ts'

export {
  findPrimaryLabel,
  isAliasLabel,
  listAliasesOf,
  listLabelsOf,
  listPublicAliasLabels,
} from './queries.ts'

/**
 * Takes the label under which an alias (`ref`: its name) or a deployment (`ref`: `deploymentRef(commitSha)`) is served,
 * and returns it. What has a label keeps it. One that is taken is cut and ended in a hash, as often as it needs.
 * contract §1: Hosts.
 */
export function claimLabel(
  ctx: Context,
  tx: DbOrTx,
  wanted: { ref: string; repo: string; owner: string },
  target: LabelTarget,
): string {
  const kept = findLabelOf(tx, target)
  if (kept !== undefined) return kept
  let label = hostLabel(wanted)
  while (!isLabelFree(ctx, tx, label)) label = clashLabel(label)
  insertLabel(tx, label, target)
  return label
}

/** Whether nothing answers at the label below the base domain. What maps a host there must ask this too. */
export function isLabelFree(ctx: Context, db: DbOrTx, label: string): boolean {
  const host = `${label}.${ctx.config.baseDomain}`
  return host !== ctx.config.adminHost && !hasLabel(db, label) && !isHostMapped(db, host)
}
