import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { deleteDeploymentRow, findDeployment } from './queries.ts'

/** Deletes a deployment with its files, in the caller's transaction. No alias may point at it. */
export function removeDeployment(ctx: Context, tx: DbOrTx, actor: Actor, id: string): void {
  const before = findDeployment(tx, id)
  if (before === undefined) return
  deleteDeploymentRow(ctx.db, id)
  audit(ctx, tx, actor, {
    action: 'deployment.delete',
    target: { kind: 'deployment', id, name: before.commitSha },
    projectId: before.projectId,
    before,
  })
}
