import type { Context, UserActor } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { findUser, findUserByEmail, type User } from '../users/accounts.ts'

/**
 * The account whose password it is. Refuses a pair of email and address that failed too often, right password or not;
 * an unknown email costs the same. What it refuses is for the caller to count (`ctx.lockout.fail`), as the gate adds to it.
 */
export async function checkPassword(
  ctx: Context,
  email: string,
  password: string,
  ip: string,
): Promise<User | undefined> {
  const user = findUserByEmail(ctx.db.orm, email)
  return (await isRight(ctx, { email, ip }, password, user)) ? user : undefined
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
  const account = findUser(ctx.db.orm, user.id)
  if (await isRight(ctx, { email: user.email, ip }, password, account)) return account?.passwordHash ?? null
  ctx.lockout.fail(user.email, ip)
  throw wrongPassword()
}

/** contract §3: after 10 failures in 15 minutes the pair of email and address waits. */
export function refuseLocked(ctx: Context, email: string, ip: string): void {
  const seconds = ctx.lockout.lockedForSeconds(email, ip)
  if (seconds === 0) return
  const minutes = Math.ceil(seconds / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  throw new AppError('rate_limited', `Too many failed sign-ins. Wait ${wait} or reset the password.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** Of somebody who is not signed in: which of the two is wrong is not said. */
export const wrongCredentials = () =>
  new AppError('unauthenticated', 'Email or password is wrong', { code: WRONG_CREDENTIALS })

/** Of somebody who is signed in. */
export const wrongPassword = (message = 'The current password is wrong') =>
  new AppError('invalid', message, { code: WRONG_CREDENTIALS })

const WRONG_CREDENTIALS = 'WRONG_CREDENTIALS_ERROR'

async function isRight(
  ctx: Context,
  { email, ip }: { email: string; ip: string },
  password: string,
  user: User | undefined,
): Promise<boolean> {
  refuseLocked(ctx, email, ip)
  const isRight = await ctx.passwords.verify(password, user?.passwordHash ?? null)
  // Others failed while this one waited in line.
  refuseLocked(ctx, email, ip)
  return isRight
}
