import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inDurableTransaction } from '../../db/relaxed.ts'
import { tidying } from '../../db/tidying.ts'
import type { SessionUser, UserActor } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import {
  findUser,
  insertUser,
  isEmailTaken,
  publicUser,
  refuseSuspendedAccount,
  type User,
} from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { refuseLocked, wrongCredentials } from './check-password.ts'
import { meetDevice } from './known-devices.ts'
import { judgeCode, mfaCodeInvalid, mfaRequired, type SecondFactor, useSecondFactor } from './second-step.ts'
import { openSession, type SignedIn, sessionCookies } from './sessions.ts'

/** What else happens on entry, in the same transaction. `actor` is the person, with the session just opened. */
export type OnEntry = (tx: DbOrTx, actor: UserActor) => void

/**
 * Opens a session for somebody who proved the first factor. `code` is the second factor, if the account has one. The
 * account is read again: it may have been deleted, or its password or second step may have changed during the check.
 * Throws 403 `ACCOUNT_SUSPENDED`, 401 `MFA_REQUIRED` or `MFA_CODE_INVALID`, 429, and whatever `onEntry` throws; then no session
 * is opened.
 */
export async function enter(
  ctx: Context,
  user: User,
  code: string | undefined,
  origin: Origin,
  onEntry: OnEntry = () => {},
): Promise<SignedIn> {
  const { ip } = origin.facts
  refuseSuspendedAccount(user)
  const factor = await judgeCode(ctx, user, code)
  refuseLocked(ctx, user.email, ip)
  if (factor.kind === 'missing') throw mfaRequired()
  const signedIn = factor.kind === 'wrong' ? undefined : await tryToEnter(ctx, user, factor, origin, onEntry)
  if (signedIn === undefined) {
    ctx.lockout.fail(user.email, ip)
    throw mfaCodeInvalid()
  }
  ctx.lockout.clear(user.email, ip)
  return signedIn
}

/** Undefined when somebody else used the code in the meantime. */
function tryToEnter(
  ctx: Context,
  user: User,
  factor: SecondFactor,
  origin: Origin,
  onEntry: OnEntry,
): Promise<SignedIn | undefined> {
  const work = (tx: DbOrTx) => {
    const currentUser = findUser(tx, user.id)
    if (currentUser?.passwordHash !== user.passwordHash || currentUser.totpSecret !== user.totpSecret)
      throw wrongCredentials()
    if (!useSecondFactor(tx, user.id, factor)) return undefined
    const { signedIn, actor } = openFor(ctx, tx, currentUser, origin)
    audit(ctx, tx, actor, {
      action: 'session.open',
      target: { kind: 'session', id: signedIn.sessionId, name: origin.facts.host },
    })
    onEntry(tx, actor)
    return signedIn
  }
  return tidying(ctx.db, () => inDurableTransaction(ctx.db, work))
}

/** Stores a new account and signs it in, in one transaction. Of two at once, the second fails. */
export async function enterNew(
  ctx: Context,
  user: User,
  origin: Origin,
  { before, onEntry }: { before?: () => void; onEntry?: OnEntry } = {},
): Promise<SignedIn> {
  try {
    return await inDurableTransaction(ctx.db, (tx) => {
      before?.()
      insertUser(tx, user)
      const { signedIn, actor } = openFor(ctx, tx, user, origin)
      audit(ctx, tx, actor, {
        action: 'user.create',
        target: { kind: 'user', id: user.id, name: user.email },
        after: publicUser(user),
      })
      onEntry?.(tx, actor)
      return signedIn
    })
  } catch (error) {
    if (isEmailTaken(error)) throw emailExists()
    throw error
  }
}

export const emailExists = () =>
  new AppError('conflict', 'An account with this email already exists. Sign in instead.', {
    code: 'EMAIL_ALREADY_EXISTS_ERROR',
  })

function openFor(
  ctx: Context,
  tx: DbOrTx,
  user: User,
  origin: Origin,
): { signedIn: SignedIn; actor: UserActor } {
  const { facts, userAgent } = origin
  const deviceCookies = meetDevice(ctx, tx, user, origin)
  const { id: sessionId, tokens } = openSession(ctx, tx, user.id, { ip: facts.ip, userAgent })
  const setCookies = [...sessionCookies(ctx, tokens, facts), ...deviceCookies]
  return {
    signedIn: { user: publicUser(user), sessionId, setCookies },
    actor: actorOf(user, sessionId, origin),
  }
}

/** The person as an actor, for the audit log. */
export const actorOf = (user: SessionUser, sessionId: string, { facts }: Origin): UserActor => ({
  kind: 'user',
  user: publicUser(user),
  sessionId,
  ip: facts.ip,
})
