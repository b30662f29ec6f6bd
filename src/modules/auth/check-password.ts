import type { Context } from '../../context.ts'
import type { UserActor } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import { type Addressee, findUser, type User } from '../users/accounts.ts'
import { renewHash } from './renew-hash.ts'

/**
 * Returns the account if the password is right. Refuses a pair of email and address that failed too often, even with
 * the right password. An unknown email takes the same time. The caller counts failures (`ctx.lockout.fail`), because
 * the gate adds its own.
 */
export async function checkPassword(
  ctx: Context,
  { email, user }: Addressee,
  password: string,
  ip: string,
): Promise<User | undefined> {
  refuseLocked(ctx, email, ip)
  const match = await ctx.passwords.verify(password, user?.passwordHash ?? null)
  // Other attempts may have failed while this one waited in the queue.
  refuseLocked(ctx, email, ip)
  if (match !== 'outdated' || user === undefined) return match === 'right' ? user : undefined
  await renewHash(ctx, user, password)
  return checkPassword(ctx, { email, user: findUser(ctx.db.orm, user.id) }, password, ip)
}

/**
 * Asks a signed-in person for their password again; returns its hash. Wrong passwords count as failed sign-ins, so that
 * a stolen session cannot be used to guess it. Throws 400 `WRONG_CREDENTIALS_ERROR` or 429.
 */
export async function confirmPassword(
  ctx: Context,
  { user, ip }: UserActor,
  password: string,
): Promise<string | null> {
  const addressee = { email: user.email, user: findUser(ctx.db.orm, user.id) }
  const account = await checkPassword(ctx, addressee, password, ip)
  if (account !== undefined) return account.passwordHash
  ctx.lockout.fail(user.email, ip)
  throw wrongPassword()
}

/** contract §3: after 10 failures in 15 minutes, this pair of email and address has to wait. */
export function refuseLocked(ctx: Context, email: string, ip: string): void {
  const seconds = ctx.lockout.lockedForSeconds(email, ip)
  if (seconds === 0) return
  const minutes = Math.ceil(seconds / 60)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  throw new AppError('rate_limited', `Too many failed sign-ins. Wait ${wait} or reset the password.`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** For somebody who is not signed in: it does not say which of the two is wrong. */
export const wrongCredentials = () =>
  new AppError('unauthenticated', 'Email or password is wrong', { code: WRONG_CREDENTIALS })

/** For somebody who is signed in. */
export const wrongPassword = (message = 'The current password is wrong') =>
  new AppError('invalid', message, { code: WRONG_CREDENTIALS })

const WRONG_CREDENTIALS = 'WRONG_CREDENTIALS_ERROR'
