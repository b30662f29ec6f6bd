import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { UserActor } from '../../domain/actor.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isRecent } from '../../domain/recent.ts'
import { findUser, type User } from '../users/accounts.ts'
import { checkPassword, refuseLocked } from './check-password.ts'
import { judgeCode, mfaCodeInvalid, mfaRequired, useSecondFactor } from './second-step.ts'
import { findSession } from './sessions.ts'

/** How fresh the session of somebody without a password has to be. */
const FRESH_MS = 10 * MINUTE_MS

export type Proof = { password?: string | undefined; code?: string | undefined }

/**
 * Asks somebody who is signed in for the proofs of a sign-in once more; failures count as failed sign-ins. Who has no password must
 * have signed in within ten minutes. Returns what uses up the code, in the transaction of what it is for. Throws 401
 * `WRONG_CREDENTIALS_ERROR`, `MFA_REQUIRED` or `MFA_CODE_INVALID`, 403 `REAUTHENTICATE`, 429. contract 17.8.
 */
export async function signInAgain(
  ctx: Context,
  actor: UserActor,
  { password = '', code }: Proof,
): Promise<(tx: DbOrTx) => void> {
  const { ip } = actor
  const { email } = actor.user
  const user = await proveFirst(ctx, actor, password)
  const factor = await judgeCode(ctx, user, code)
  refuseLocked(ctx, email, ip)
  if (factor.kind === 'missing') throw mfaRequired()
  const fail = (error: AppError): never => {
    ctx.lockout.fail(email, ip)
    throw error
  }
  if (factor.kind === 'wrong') fail(mfaCodeInvalid())
  return (tx) => {
    const now = findUser(tx, user.id)
    if (now?.passwordHash !== user.passwordHash || now.totpSecret !== user.totpSecret) throw wrongNow()
    if (!useSecondFactor(tx, user.id, factor)) fail(mfaCodeInvalid())
    ctx.lockout.clear(email, ip)
  }
}

async function proveFirst(ctx: Context, { user, sessionId, ip }: UserActor, password: string): Promise<User> {
  const account = findUser(ctx.db.orm, user.id)
  if (account !== undefined && account.passwordHash === null) {
    const openedAt = findSession(ctx.db.orm, sessionId)?.createdAt
    if (openedAt !== undefined && isRecent(openedAt, ctx.now(), FRESH_MS)) return account
    throw new AppError(
      'forbidden',
      'Sign out and in again first: this needs a sign-in of the last 10 minutes',
      {
        code: 'REAUTHENTICATE',
      },
    )
  }
  const found = await checkPassword(ctx, { email: user.email, user: account }, password, ip)
  if (found !== undefined) return found
  ctx.lockout.fail(user.email, ip)
  throw wrongNow()
}

const wrongNow = () =>
  new AppError('unauthenticated', 'The password is wrong', { code: 'WRONG_CREDENTIALS_ERROR' })
