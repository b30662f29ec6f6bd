import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { findUser, getUserAt, updateUser } from '../users/accounts.ts'
import { endOneTimeTokens } from './one-time-tokens.ts'
import { endSessionsOf } from './sessions.ts'

/** Gives an account a new password and ends its sessions, for the operator. Throws 404 for an unknown email. */
export async function setPassword(
  ctx: Context,
  email: string,
  password: string,
  actor: Actor,
): Promise<void> {
  const passwordHash = await ctx.passwords.hash(password)
  inTransaction(ctx.db, (tx) => {
    const user = getUserAt(tx, email)
    storePassword(ctx, tx, { userId: user.id, passwordHash, keepSession: null }, actor)
  })
}

/** Stores a password. Ends every session except `keepSession`, and every link that could set another password. */
export function storePassword(
  ctx: Context,
  tx: DbOrTx,
  { userId, passwordHash, keepSession }: { userId: string; passwordHash: string; keepSession: string | null },
  actor: Actor,
): void {
  updateUser(tx, userId, { passwordHash, updatedAt: ctx.now() })
  endSessionsOf(tx, userId, keepSession)
  endOneTimeTokens(tx, userId, ['reset', 'invite', 'site_code'])
  const target = { kind: 'user', id: userId, name: findUser(tx, userId)?.email ?? null }
  audit(ctx, tx, actor, { action: 'user.set-password', target })
}
