import type { Actor, Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError } from '../../domain/errors.ts'
import { hashToken } from '../../platform/tokens.ts'
import { findUser, findUserByEmail } from '../users/accounts.ts'
import { resetMail } from './mails.ts'
import { consumeOneTimeToken, createOneTimeToken, SETS_PASSWORD } from './one-time-tokens.ts'
import { findOneTimeToken } from './queries.ts'
import { resetRequests } from './reset-requests.ts'
import { storePassword } from './set-password.ts'

const tokenInvalid = () =>
  new AppError('invalid', 'This link is wrong, was used already or is too old. Ask for a new one.', {
    code: 'RESET_TOKEN_INVALID',
  })

/**
 * Mails a link to the account of that email, if there is one and mail is set up. Nothing of it happens before the
 * answer, so neither its text nor its time tells whether there is an account.
 */
export function forgotPassword(ctx: Context, email: string, ip: string): void {
  if (!ctx.mail.isConfigured) return
  setTimeout(() => void mailResetLink(ctx, normalizeEmail(email), ip), 0)
}

async function mailResetLink(ctx: Context, email: string, ip: string): Promise<void> {
  try {
    if (resetRequests(ctx).take(email).isOver) return
    const token = createResetToken(ctx, email, ip)
    if (token === undefined) return
    // Only the configured address goes into a mail: the Host header is whatever the asker wrote.
    await ctx.mail.send(resetMail(email, `${ctx.adminUrl()}/reset-password?token=${token}`))
  } catch (error) {
    ctx.log.error('the mail with the reset link could not be sent', { error })
  }
}

function createResetToken(ctx: Context, email: string, ip: string): string | undefined {
  return inTransaction(ctx.db, (tx) => {
    const user = findUserByEmail(tx, email)
    // An unknown email is written down as well: a commit takes time, which the next request would show.
    audit(
      ctx,
      tx,
      { kind: 'anonymous', ip },
      { action: 'user.forgot-password', target: { kind: 'user', id: user?.id ?? null } },
    )
    return user && createOneTimeToken(ctx, tx, { purpose: 'reset', userId: user.id, lifeMs: HOUR_MS })
  })
}

/** For the page behind a link: whose account it is about, and whether it sets the first password. Nothing is used up. */
export function findPasswordLink(
  ctx: Context,
  token: string,
): { email: string; purpose: 'reset' | 'invite' } | undefined {
  const found = findOneTimeToken(ctx.db.orm, hashToken(token))
  if (found === undefined || found.expiresAt <= ctx.now() || found.purpose === 'site_code') return undefined
  const email = findUser(ctx.db.orm, found.userId)?.email
  return email === undefined ? undefined : { email, purpose: found.purpose }
}

/**
 * Sets the password of the account that the link is for, also the first one of somebody invited. All its sessions end
 * but the one of the `caller`, if it is theirs. Throws 400 `RESET_TOKEN_INVALID`.
 */
export async function resetPassword(
  ctx: Context,
  input: { token: string; password: string },
  caller: Actor,
  ip: string,
): Promise<{ email: string }> {
  // Looked at first, so that a wrong token does not cost the hashing of a password.
  if (findPasswordLink(ctx, input.token) === undefined) throw tokenInvalid()
  const passwordHash = await ctx.passwords.hash(input.password)
  const user = inTransaction(ctx.db, (tx) => {
    const spent = consumeOneTimeToken(ctx, tx, input.token, SETS_PASSWORD)
    const owner = spent && findUser(tx, spent.userId)
    if (owner === undefined) throw tokenInvalid()
    const isTheirs = caller.kind === 'user' && caller.user.id === owner.id
    storePassword(
      ctx,
      tx,
      { userId: owner.id, passwordHash, keepSession: isTheirs ? caller.sessionId : null },
      caller,
    )
    return owner
  })
  ctx.lockout.clear(user.email, ip)
  return { email: user.email }
}
