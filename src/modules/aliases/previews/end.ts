import type { Context } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import type { Actor } from '../../../domain/actor.ts'
import { deleteDeployments } from '../../deployments/delete-all.ts'
import { deletePreviewCopiesOf } from '../../rule-sets/preview-copies.ts'
import { tellHooks } from '../../webhooks/outbox.ts'
import { aboutChange } from '../about.ts'
import { tellOfMove } from '../moves.ts'
import { type AliasRow, deleteAliasRow } from '../queries.ts'
import { listEnding } from './queries.ts'

/** `closed` by somebody, or `expired` by itself. */
export type EndReason = 'closed' | 'expired'

/**
 * Ends a preview, in the caller's transaction: its alias with host, history and rules, the preview copies of rule sets
 * that are attached to no other alias, and what was published as this preview and no other alias ever showed.
 */
export function endPreview(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  preview: AliasRow,
  reason: EndReason,
): void {
  const { projectId, name } = preview
  tellOfMove(ctx, tx, actor, { before: preview, after: undefined }, 'end')
  tellHooks(ctx, tx, { event: 'preview.ended', actor, projectId, data: () => ({ name, reason }) })
  const deployments = listEnding(ctx.db, preview.id)
  const ruleSets = deletePreviewCopiesOf(ctx.db, preview.id)
  deleteAliasRow(ctx.db, preview.id)
  deleteDeployments(
    ctx.db,
    deployments.map(({ id }) => id),
  )
  audit(ctx, tx, actor, {
    ...aboutChange('preview.end', preview),
    before: preview,
    after: { reason, deployments, ruleSets },
  })
}
