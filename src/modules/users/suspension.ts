import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import { reasonAgainst, settleKeys } from '../api-keys/take-over.ts'
import { authorizeAgain, type Grant, operatorGrant } from '../auth/authorize.ts'
import { endOneTimeTokens } from '../auth/one-time-tokens.ts'
import { endSessionsOf } from '../auth/sessions.ts'
import { getUserAt, getUserRow, type User, updateUser } from './accounts.ts'
import { keepLastAdmin } from './last-admin.ts'
import type { UserView } from './model.ts'
import { refuseOneself } from './oneself.ts'
import { userView } from './view.ts'

/** Shutting somebody out for a while, with everything that they have in place. contract 17.6. */

/**
 * Ends all sessions of the person and suspends their keys; nothing lets them in until `unsuspendUser`. Throws 400 for oneself and
 * the last admin, 409 `ALREADY_SUSPENDED`.
 */
export function suspendUser(ctx: Context, grant: Grant, id: string, reason: string | null = null): UserView {
  return inTidyingTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'workspace:administer')
    refuseOneself(grant, id, 'suspend yourself')
    return userView(tx, suspend(ctx, tx, grant, getUserRow(tx, { userId: id }), reason))
  })
}

/** Sessions that ended stay ended. Throws 409 `NOT_SUSPENDED`. */
export function unsuspendUser(ctx: Context, grant: Grant, id: string): UserView {
  return inTidyingTransaction(ctx.db, (tx) => {
    authorizeAgain(ctx, grant, 'workspace:administer')
    return userView(tx, unsuspend(ctx, tx, grant, getUserRow(tx, { userId: id })))
  })
}

/** The same for the operator. Throws 404 for an unknown email. */
export const suspendByEmail = (ctx: Context, email: string): void =>
  inTidyingTransaction(ctx.db, (tx) => void suspend(ctx, tx, operatorGrant(), getUserAt(tx, email), null))

export const unsuspendByEmail = (ctx: Context, email: string): void =>
  inTidyingTransaction(ctx.db, (tx) => void unsuspend(ctx, tx, operatorGrant(), getUserAt(tx, email)))

function suspend(ctx: Context, tx: DbOrTx, grant: Grant, user: User, text: string | null): User {
  if (user.suspendedAt !== null)
    throw new AppError('conflict', `${user.email} is suspended already`, { code: 'ALREADY_SUSPENDED' })
  const suspended = { suspendedAt: ctx.now(), suspendedReason: text?.trim() || null }
  keepLastAdmin('suspended', () => updateUser(tx, user.id, { ...suspended, updatedAt: ctx.now() }))
  endSessionsOf(tx, user.id)
  endOneTimeTokens(tx, user.id, ['site_code'])
  return settled(ctx, tx, grant, 'user.suspend', user, suspended)
}

function unsuspend(ctx: Context, tx: DbOrTx, grant: Grant, user: User): User {
  if (user.suspendedAt === null)
    throw new AppError('conflict', `${user.email} is not suspended`, { code: 'NOT_SUSPENDED' })
  const lifted = { suspendedAt: null, suspendedReason: null }
  updateUser(tx, user.id, { ...lifted, updatedAt: ctx.now() })
  return settled(ctx, tx, grant, 'user.unsuspend', user, lifted)
}

export type Suspension = Pick<User, 'suspendedAt' | 'suspendedReason'>

/** The account as it is now, with its keys in line and the change on record. */
function settled(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  action: string,
  user: User,
  suspension: Suspension,
): User {
  const after = { ...getUserRow(tx, { userId: user.id }), ...suspension }
  settleKeys(ctx, tx, grant, { makerId: user.id, reason: reasonAgainst(after), fate: 'suspend' })
  const target = { kind: 'user', id: user.id, name: user.email }
  const [before, now] = [suspensionOf(user), suspensionOf(after)]
  const change = { action, target, before: facts(user), after: facts(after) }
  audit(ctx, tx, grant.actor, { ...change, undo: { before, after: now } })
  return after
}

const suspensionOf = ({ suspendedAt, suspendedReason }: Suspension): Suspension => ({
  suspendedAt,
  suspendedReason,
})

const facts = ({ suspendedAt, suspendedReason }: Suspension) => ({
  suspendedAt: isoTimeOrNull(suspendedAt),
  suspendedReason,
})
