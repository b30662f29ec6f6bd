import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { ifRoom } from '../../db/tidying.ts'
import { findUser, type User, updateUser } from '../users/accounts.ts'

/**
 * Stores the hash of a right password anew, made of its NFC form; nothing else changes, sessions stay. Leaves one that
 * somebody replaced meanwhile, and does without where the disk is full. contract 12.7.
 */
export async function renewHash(
  ctx: Context,
  { id, passwordHash: outdated }: User,
  password: string,
): Promise<void> {
  const passwordHash = await ctx.passwords.hash(password)
  ifRoom(ctx.db, () =>
    inTransaction(ctx.db, (tx) => {
      if (findUser(tx, id)?.passwordHash === outdated) updateUser(tx, id, { passwordHash })
    }),
  )
}
