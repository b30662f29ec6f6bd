import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { clashLabel, deploymentRef, hostLabel, versionRef } from '../../domain/hostname.ts'
import { isHostMapped } from '../domains/mapped-hosts.ts'
import { findLabelOf, hasLabel, insertLabel, type LabelTarget, moveNewestLabel } from './queries.ts'

export {
  findPrimary,
  isAliasLabel,
  listAliasesOf,
  listLabelsOf,
  listPublicAliasLabels,
} from './queries.ts'

type NamedProject = { owner: string; name: string }

/**
 * Claims the hosts of a new version: its own, and that of its commit, which leaves the version before it. `beforeId`: that
 * version, if there is one.
 */
export function claimVersionLabels(
  ctx: Context,
  tx: DbOrTx,
  { owner, name: repo }: NamedProject,
  { id: deploymentId, commitSha, version }: { id: string; commitSha: string; version: number },
  beforeId: string | undefined,
): { sha: string; version: string } {
  if (beforeId !== undefined) moveNewestLabel(ctx.db, beforeId, deploymentId)
  const ofSha = { ref: deploymentRef(commitSha), repo, owner }
  const ofVersion = { ref: versionRef(commitSha, version), repo, owner }
  return {
    sha: claimLabel(ctx, tx, ofSha, { deploymentId, isNewest: true }),
    version: claimLabel(ctx, tx, ofVersion, { deploymentId, isNewest: false }),
  }
}

/**
 * Claims and returns the label under which an alias (`ref`: its name), a commit (`deploymentRef(commitSha)`) or one of its
 * versions (`versionRef(commitSha, version)`) is served. If it already has a label, it keeps it. If the label is taken, it is cut and a
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
