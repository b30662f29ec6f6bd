import type { Context, SessionUser, UserActor } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, isUniqueViolation } from '../../db/open.ts'
import { inDurableTransaction } from '../../db/relaxed.ts'
import { AppError } from '../../domain/errors.ts'
import { findUser, insertUser, publicUser, type User } from '../users/accounts.ts'
import type { Origin } from './caller.ts'
import { refuseLocked, wrongCredentials } from './check-password.ts'
import { judgeCode, mfaCodeInvalid, mfaRequired, type SecondFactor, useSecondFactor } from './second-step.ts'
import { openSession, type SignedIn, sessionCookies } from './sessions.ts'

/** What else entering does, in the same transaction; `actor` is the person, by the session that was just opened. */
export type OnEntry = (tx: DbOrTx, actor: UserActor) => void

/**
 * Opens a session for somebody who proved the first factor; `code` is for the second, where the account has one. The
 * account is read again: it may have been deleted, or its password or second step changed, while it was checked. Throws 401
 * `MFA_REQUIRED` or `MFA_CODE_INVALID`, 429, and what `onEntry` throws: then nobody entered.
 */
export async function enter(
  ctx: Context,
  user: User,
  code: string | undefined,
  origin: Origin,
  onEntry: OnEntry = () => {},
): Promise<SignedIn> {
  const { ip } = origin.facts
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

/** Undefined when the code was used by somebody else in the meantime. */
function tryToEnter(
  ctx: Context,
  user: User,
  factor: SecondFactor,
  origin: Origin,
  onEntry: OnEntry,
): Promise<SignedIn | undefined> {
  return inDurableTransaction(ctx.db, (tx) => {
    const now = findUser(tx, user.id)
    if (now?.passwordHash !== user.passwordHash || now.totpSecret !== user.totpSecret)
      throw wrongCredentials()
    if (!useSecondFactor(tx, user.id, factor)) return undefined
    const { signedIn, actor } = openFor(ctx, tx, now, origin)
    audit(ctx, tx, actor, {
      action: 'session.open',
      target: { kind: 'session', id: signedIn.sessionId },
    })
    onEntry(tx, actor)
    return signedIn
  })
}

/** Stores a new account and signs it in, in one transaction. Two at once: the second is told that it exists. */
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
        target: { kind: 'user', id: user.id },
        after: publicUser(user),
      })
      onEntry?.(tx, actor)
      return signedIn
    })
  } catch (error) {
    if (isUniqueViolation(error)) throw emailExists()
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
  const { id: sessionId, tokens } = openSession(ctx, tx, user.id, { ip: facts.ip, userAgent })
  return {
    signedIn: { user: publicUser(user), sessionId, setCookies: sessionCookies(ctx, tokens, facts) },
    actor: actorOf(user, sessionId, origin),
  }
}

/** The person as the one who acts, for what is written down. */
export const actorOf = (user: SessionUser, sessionId: string, { facts }: Origin): UserActor => ({
  kind: 'user',
  user: publicUser(user),
  sessionId,
  ip: facts.ip,
})
