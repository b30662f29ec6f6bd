import type { Actor, Context, UserActor } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError } from '../../domain/errors.ts'
import { findUser, findUserByEmail, updateUser } from '../users/accounts.ts'
import { authorizeAgain, type Grant, personOf } from './authorize.ts'
import { refuseLocked } from './credentials.ts'
import { deleteOneTimeTokensOf, deleteSessionsOfUser } from './queries.ts'

/** Gives an account a new password and ends its sessions. Throws 404 for an unknown email. */
export async function setPassword(
  ctx: Context,
  email: string,
  password: string,
  actor: Actor,
): Promise<void> {
  const passwordHash = await ctx.passwords.hash(password)
  inTransaction(ctx.db, (tx) => {
    const user = findUserByEmail(tx, normalizeEmail(email))
    if (user === undefined) throw new AppError('not_found', `There is no account for ${email}`)
    storePassword(ctx, tx, { userId: user.id, passwordHash, keepSession: null }, actor)
  })
}

/** Replaces the current password of somebody signed in; the other sessions end. Counts wrong ones as failed sign-ins. */
export async function changeOwnPassword(
  ctx: Context,
  grant: Grant,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  const actor = personOf(grant)
  const before = await confirmPassword(ctx, actor, input.currentPassword)
  const passwordHash = await ctx.passwords.hash(input.newPassword)
  inTransaction(ctx.db, (tx) => {
    // A reset that came in between is the newer word.
    if (findUser(tx, actor.user.id)?.passwordHash !== before) throw wrongPassword()
    authorizeAgain(ctx, grant, 'account:use')
    storePassword(ctx, tx, { userId: actor.user.id, passwordHash, keepSession: actor.sessionId }, actor)
  })
}

/** Stores a password; every session but `keepSession`, and every link that could set another, ends with the old one. */
export function storePassword(
  ctx: Context,
  tx: DbOrTx,
  change: { userId: string; passwordHash: string; keepSession: string | null },
  actor: Actor,
): void {
  const { userId, passwordHash } = change
  updateUser(tx, userId, { passwordHash, updatedAt: ctx.now() })
  deleteSessionsOfUser(tx, change.userId, change.keepSession)
  deleteOneTimeTokensOf(tx, change.userId, ['reset', 'invite', 'site_code'])
  audit(ctx, tx, actor, { action: 'user.set-password', target: { kind: 'user', id: change.userId } })
}

/**
 * Asks somebody signed in for their password again; returns its hash. A stolen session must not be a place to guess
 * it, so wrong ones count as failed sign-ins. Throws 400 `WRONG_CREDENTIALS_ERROR` or 429.
 */
export async function confirmPassword(
  ctx: Context,
  { user, ip }: UserActor,
  password: string,
): Promise<string | null> {
  refuseLocked(ctx, user.email, ip)
  const hash = findUser(ctx.db.orm, user.id)?.passwordHash ?? null
  const isRight = await ctx.passwords.verify(password, hash)
  refuseLocked(ctx, user.email, ip)
  if (isRight) return hash
  ctx.lockout.fail(user.email, ip)
  throw wrongPassword()
}

const wrongPassword = () =>
  new AppError('invalid', 'The current password is wrong', { code: 'WRONG_CREDENTIALS_ERROR' })
