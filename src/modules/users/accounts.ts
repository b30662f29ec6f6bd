import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { SessionUser } from '../../domain/actor.ts'
import { EMAIL_RULE, earlierEmail, normalEmail } from '../../domain/email.ts'
import { AppError, invalidChoice, invalidField } from '../../domain/errors.ts'
import type { GlobalRole } from '../../domain/roles.ts'
import { findUser, findUserByEmail, type User } from './queries.ts'

/** Accounts, for the modules that sign people in or give them something. No other module writes the table. */

export {
  claimTotpStep,
  findFirstAdmin,
  findUser,
  insertUser,
  isEmailTaken,
  turnOnTotp,
  type User,
  updateUser,
} from './queries.ts'

/** Somebody named by id or by email; the id wins. */
export type UserRef = { userId?: string | undefined; email?: string | undefined }

/** A person as every response shows them. */
export const publicUser = ({ id, email, role }: SessionUser): SessionUser => ({ id, email, role })

/** Throws 403 `ACCOUNT_SUSPENDED` for somebody whom no proof lets in. contract 17.6. */
export function refuseSuspendedAccount({ suspendedAt }: Pick<User, 'suspendedAt'>): void {
  if (suspendedAt !== null)
    throw new AppError('forbidden', 'This account is suspended. Ask an administrator to let you back in.', {
      code: 'ACCOUNT_SUSPENDED',
    })
}

/** Whom an email means. `email` stands for it in one form: that of the account or, if there is none, the normal form. */
export type Addressee = { email: string; user: User | undefined }

/**
 * An account of before is meant by its stored spelling, of twins the older by all others. Throws 400 for a text that has
 * no normal form, unless an account of before is stored so. contract 12.7.
 */
export function addresseeOf(db: DbOrTx, text: string): Addressee {
  const earlier = earlierEmail(text)
  const normal = normalEmail(text)
  const user = findUserByEmail(db, earlier, normal ?? earlier)
  if (user === undefined && normal === null) throw noEmail()
  return { email: user?.email ?? normal ?? earlier, user }
}

/** The form in which a new email is stored. Throws 400 for a text that has none. */
export function newEmail(text: string): string {
  const email = normalEmail(text)
  if (email === null) throw noEmail()
  return email
}

const noEmail = () => invalidField('email', EMAIL_RULE)

/** Throws 400 when nobody is named, or by a text that is no email; 404 when there is no such user. */
export const getAccount = (db: DbOrTx, ref: UserRef): SessionUser => publicUser(getUserRow(db, ref))

/** The same with all stored columns. */
export function getUserRow(db: DbOrTx, { userId, email }: UserRef): User {
  const user = userId === undefined ? userAt(db, email) : findUser(db, userId)
  if (user === undefined) throw new AppError('not_found', 'There is no such user')
  return user
}

function userAt(db: DbOrTx, email: string | undefined): User | undefined {
  if (email === undefined) throw invalidChoice('userId', 'Name the user by userId or email')
  return addresseeOf(db, email).user
}

/** An account to be stored. `email` is a `newEmail`. `passwordHash` null: nobody can sign in with a password yet. */
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
    suspendedAt: null,
    suspendedReason: null,
    lastSeenAt: null,
  }
}

/** The same with a password, which is hashed here; `email` as it was typed. */
export async function newAccountWithPassword(
  ctx: Context,
  { email, password, role }: { email: string; password: string; role: GlobalRole },
): Promise<User> {
  const account = { email: newEmail(email), role }
  return newAccount(ctx, { ...account, passwordHash: await ctx.passwords.hash(password) })
}
