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
 * Claims and returns the label under which an alias (`ref`: its name) or a deployment (`ref`:
 * `deploymentRef(commitSha)`) is served. If it already has a label, it keeps it. If the label is taken, it is cut and a
 * hash appended until it is free. contract §1: Hosts.
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

/** Whether nothing is served at the label below the base domain. Code that maps a host there must check this too. */
export function isLabelFree(ctx: Context, db: DbOrTx, label: string): boolean {
  const host = `${label}.${ctx.config.baseDomain}`
  return host !== ctx.config.adminHost && !hasLabel(db, label) && !isHostMapped(db, host)
}
