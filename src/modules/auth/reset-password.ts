import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import type { Actor } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import { addresseeOf, type User } from '../users/accounts.ts'
import { addPasswordLink, consumePasswordLink, findPasswordLink } from './password-links.ts'
import { resetMail } from './reset-password/mail.ts'
import { resetRequests } from './reset-password/requests.ts'
import { storePassword } from './set-password.ts'

const tokenInvalid = () =>
  new AppError('invalid', 'This link is wrong, has been used or has expired. Ask for a new one.', {
    code: 'RESET_TOKEN_INVALID',
  })

/**
 * Mails a link to the account with that email, if there is one and mail is configured. Everything happens after the
 * response, so neither its text nor its timing shows whether there is an account.
 */
export function forgotPassword(ctx: Context, email: string, ip: string): void {
  if (!ctx.mail.isConfigured) return
  setTimeout(() => void mailResetLink(ctx, email, ip), 0)
}

async function mailResetLink(ctx: Context, typed: string, ip: string): Promise<void> {
  try {
    const { email, user } = addresseeOf(ctx.db.orm, typed)
    if (resetRequests(ctx).take(email).isOver) return
    const url = createResetUrl(ctx, user, ip)
    if (url !== undefined) await ctx.mail.send(resetMail(email, url))
  } catch (error) {
    ctx.log.error('the mail with the reset link could not be sent', { error })
  }
}

function createResetUrl(ctx: Context, user: User | undefined, ip: string): string | undefined {
  return inTransaction(ctx.db, (tx) => {
    // Unknown emails are written to the audit log too: a commit takes time, which the next request would show.
    const target = { kind: 'user', id: user?.id ?? null, name: user?.email ?? null }
    audit(ctx, tx, { kind: 'anonymous', ip }, { action: 'user.forgot-password', target })
    return user && addPasswordLink(ctx, tx, user.id, 'reset').url
  })
}

/**
 * Sets the password of the account that the link is for; for an invited person, their first one. Ends all its sessions
 * except that of `caller`, if it is theirs. Throws 400 `RESET_TOKEN_INVALID`.
 */
export async function resetPassword(
  ctx: Context,
  input: { token: string; password: string },
  caller: Actor,
  ip: string,
): Promise<{ email: string }> {
  // Checked first, so that a wrong token does not cost a password hash.
  if (findPasswordLink(ctx, input.token) === undefined) throw tokenInvalid()
  const passwordHash = await ctx.passwords.hash(input.password)
  const user = inTransaction(ctx.db, (tx) => {
    const owner = consumePasswordLink(ctx, tx, input.token)
    if (owner === undefined) throw tokenInvalid()
    const isTheirs = caller.kind === 'user' && caller.user.id === owner.id
    const keepSession = isTheirs ? caller.sessionId : null
    storePassword(ctx, tx, { userId: owner.id, passwordHash, keepSession }, caller)
    return owner
  })
  ctx.lockout.clear(user.email, ip)
  return { email: user.email }
}
