import type { Context, SessionUser } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError, invalidChoice } from '../../domain/errors.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import { findUser, findUserByEmail, type User } from './queries.ts'

/** Accounts, for the modules that sign people in or give them something. No other module writes the table. */

export {
  claimTotpStep,
  findFirstAdmin,
  findUser,
  findUserByEmail,
  insertUser,
  turnOnTotp,
  type User,
  updateUser,
} from './queries.ts'

/** Somebody named by id or by email; the id wins. */
export type UserRef = { userId?: string | undefined; email?: string | undefined }

/** A person as every response shows them. */
export const publicUser = ({ id, email, role }: SessionUser): SessionUser => ({ id, email, role })

/** The account, or undefined, also without id and email. */
export function findAccount(db: DbOrTx, { userId, email }: UserRef): SessionUser | undefined {
  if (userId !== undefined) return findUser(db, userId)
  return email === undefined ? undefined : findUserByEmail(db, normalizeEmail(email))
}

/** The same, but throws 400 when nobody is named, and 404 when there is no such user. */
export const getAccount = (db: DbOrTx, ref: UserRef): SessionUser => publicUser(getUserRow(db, ref))

/** The same with all stored columns. */
export function getUserRow(db: DbOrTx, { userId, email }: UserRef): User {
  if (userId === undefined && email === undefined)
    throw invalidChoice('userId', 'Name the user by userId or email')
  const user = userId === undefined ? findUserByEmail(db, normalizeEmail(email ?? '')) : findUser(db, userId)
  if (user === undefined) throw new AppError('not_found', 'There is no such user')
  return user
}

/** An account to be stored. `email` is normalised. `passwordHash` null: nobody can sign in with a password yet. */
export function newAccount(
  ctx: Pick<Context, 'now' | 'newId'>,
  { email, passwordHash, role }: { email: string; passwordHash: string | null; role: GlobalRole },
): User {
  const now = ctx.now()
  return {
    id: ctx.newId(),
    email,
    passwordHash,
    role,
    totpSecret: null,
    totpLastStep: 0,
    createdAt: now,
    updatedAt: now,
  }
}

/** The same with a password, which is hashed here; `email` as it was typed. */
export async function newAccountWithPassword(
  ctx: Context,
  { email, password, role }: { email: string; password: string; role: GlobalRole },
): Promise<User> {
  const passwordHash = await ctx.passwords.hash(password)
  return newAccount(ctx, { email: normalizeEmail(email), passwordHash, role })
}
