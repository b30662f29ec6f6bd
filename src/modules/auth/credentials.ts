import type { Context, SessionUser, UserActor } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { findUser, findUserByEmail, publicUser, type User } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { mfaCodeInvalid, mfaRequired, type SecondFactor, useSecondFactor } from './mfa.ts'
import { openSession, sessionCookies } from './sessions.ts'

export type Credentials = { email: string; password: string; code?: string | undefined }
export type SignedIn = { user: SessionUser; sessionId: string; setCookies: string[] }

export const wrongCredentials = () =>
  new AppError('unauthenticated', 'Email or password is wrong', { code: 'WRONG_CREDENTIALS_ERROR' })

/**
 * The account whose password it is. Refuses a pair of email and address that failed too often, right password or not;
 * an unknown email costs the same. What it refuses is for the caller to count (`ctx.lockout.fail`), as the gate adds to it.
 */
export async function checkPassword(
  ctx: Context,
  email: string,
  password: string,
  { facts }: Origin,
): Promise<User | undefined> {
  refuseLocked(ctx, email, facts.ip)
  const user = findUserByEmail(ctx.db.orm, email)
  const isRight = await ctx.passwords.verify(password, user?.passwordHash ?? null)
  // Others failed while this one waited in line.
  refuseLocked(ctx, email, facts.ip)
  return isRight ? user : undefined
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

/** What else entering does, in the same transaction; `actor` is the person, by the session that was just opened. */
export type OnEntry = (tx: DbOrTx, actor: UserActor) => void

/**
 * Opens a session for somebody who proved the first factor; `factor` is what `judgeCode` made of the code. The account is
 * read again: it may have been deleted, or its password or second step changed, while it was checked.
 */
export function enter(
  ctx: Context,
  user: User,
  factor: SecondFactor,
  origin: Origin,
  onEntry: OnEntry = () => {},
): SignedIn {
  const { ip } = origin.facts
  refuseLocked(ctx, user.email, ip)
  if (factor.kind === 'missing') throw mfaRequired()
  const session = factor.kind === 'wrong' ? undefined : tryToEnter(ctx, user, factor, origin, onEntry)
  if (session === undefined) {
    ctx.lockout.fail(user.email, ip)
    throw mfaCodeInvalid()
  }
  ctx.lockout.clear(user.email, ip)
  return {
    user: publicUser(user),
    sessionId: session.id,
    setCookies: sessionCookies(ctx, session.tokens, origin.facts),
  }
}

function tryToEnter(ctx: Context, user: User, factor: SecondFactor, origin: Origin, onEntry: OnEntry) {
  return inTransaction(ctx.db, (tx) => {
    const now = findUser(tx, user.id)
    if (now?.passwordHash !== user.passwordHash || now.totpSecret !== user.totpSecret)
      throw wrongCredentials()
    if (!useSecondFactor(tx, user.id, factor)) return undefined
    const session = openSession(ctx, tx, user.id, { ip: origin.facts.ip, userAgent: origin.userAgent })
    const actor = actorOf(now, session.id, origin)
    audit(ctx, tx, actor, { action: 'session.open', target: { kind: 'session', id: session.id } })
    onEntry(tx, actor)
    return session
  })
}

export const actorOf = (user: SessionUser, sessionId: string, { facts }: Origin): UserActor => ({
  kind: 'user',
  user: publicUser(user),
  sessionId,
  ip: facts.ip,
})
