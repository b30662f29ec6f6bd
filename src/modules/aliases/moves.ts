import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { findVersionOf } from '../deployments/service.ts'
import { tellHooks } from '../webhooks/outbox.ts'
import type { AliasRow } from './queries.ts'

/** Where an alias pointed, or points; null where there is none. */
type End = { deploymentId: string; commitSha: string; version: number } | null

export type AliasMove = { from: End; to: End }
type Reason = 'create' | 'publish' | 'move' | 'rollback' | 'end' | 'delete'

/** Tells the hooks that an alias was made, moved, ended or deleted; null if it shows what it showed before. contract 16 §4. */
export function tellOfMove(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { before, after }: { before: AliasRow | undefined; after: AliasRow | undefined },
  reason: Reason,
): AliasMove | null {
  const alias = after ?? before
  if (alias === undefined || isSame(before, after)) return null
  const move = { from: endOf(ctx, before), to: endOf(ctx, after) }
  tellHooks(ctx, tx, {
    event: 'alias.moved',
    actor,
    projectId: alias.projectId,
    data: () => ({ alias: alias.name, ...move, reason }),
  })
  return move
}

const isSame = (before: AliasRow | undefined, after: AliasRow | undefined): boolean =>
  before?.deploymentId === after?.deploymentId && before?.basePath === after?.basePath

function endOf(ctx: Context, alias: AliasRow | undefined): End {
  if (alias === undefined) return null
  const { deploymentId } = alias
  const found = findVersionOf(ctx.db, deploymentId)
  return found === null ? null : { deploymentId, ...found }
}
