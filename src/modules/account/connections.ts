import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { deleteConnection, listConnections } from '../auth/oidc.ts'
import { findUser } from '../users/accounts.ts'

/** The providers that sign in to the account, by name. */
export const connectionsOf = (
  ctx: Context,
  userId: string,
): { provider: string; email: string; connectedAt: string }[] =>
  listConnections(ctx.db.orm, userId).map(({ provider, email, connectedAt }) => ({
    provider,
    email,
    connectedAt: isoTime(connectedAt),
  }))

/** Removes a connected sign-in method. Throws 404 when it is not connected, 400 when it is the only way to sign in. */
export function removeConnection(ctx: Context, grant: Grant, provider: string): void {
  const actor = personOf(grant)
  inTidyingTransaction(ctx.db, (tx) => {
    const connections = listConnections(tx, actor.user.id)
    if (!connections.some((one) => one.provider === provider))
      throw new AppError('not_found', 'That sign-in method is not connected')
    const hasPassword = (findUser(tx, actor.user.id)?.passwordHash ?? null) !== null
    if (!hasPassword && connections.length === 1)
      throw new AppError('invalid', 'This is the only way to sign in to the account: set a password first')
    deleteConnection(tx, actor.user.id, provider)
    audit(ctx, tx, actor, {
      action: 'user.disconnect',
      target: { kind: 'user', id: actor.user.id, name: actor.user.email },
      before: { provider },
    })
  })
}
