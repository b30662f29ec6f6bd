import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { authorizeAgain, type Grant, personOf } from '../auth/authorize.ts'
import { confirmPassword, wrongPassword } from '../auth/check-password.ts'
import { storePassword } from '../auth/set-password.ts'
import { findUser } from '../users/accounts.ts'

/** Changes the password of a signed-in person; their other sessions end. Wrong passwords count as failed sign-ins. */
export async function changeOwnPassword(
  ctx: Context,
  grant: Grant,
  input: { currentPassword: string; newPassword: string },
): Promise<void> {
  const actor = personOf(grant)
  const before = await confirmPassword(ctx, actor, input.currentPassword)
  const passwordHash = await ctx.passwords.hash(input.newPassword)
  inTransaction(ctx.db, (tx) => {
    // A reset that came in between takes precedence.
    if (findUser(tx, actor.user.id)?.passwordHash !== before) throw wrongPassword()
    authorizeAgain(ctx, grant, 'account:use')
    storePassword(ctx, tx, { userId: actor.user.id, passwordHash, keepSession: actor.sessionId }, actor)
  })
}
