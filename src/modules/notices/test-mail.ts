import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { normalEmail } from '../../domain/email.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { isMailable, MailError } from '../../platform/mail.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { unlessAborted } from './send.ts'
import { testMail } from './texts.ts'

/** How long the person waits for the mail server. */
const WAIT_MS = 20_000

/**
 * Sends a mail now, to the person without `to`. Throws 409 `EMAIL_NOT_CONFIGURED`, and 502 with the reason of the mail
 * server when it does not take it.
 */
export async function sendTestMail(
  ctx: Context,
  grant: Grant,
  given: string | undefined,
): Promise<{ accepted: true; to: string }> {
  if (!ctx.mail.isConfigured)
    throw new AppError('conflict', 'This server cannot send mail: start svc with SMTP_URL', {
      code: 'EMAIL_NOT_CONFIGURED',
    })
  const to = given === undefined ? personOf(grant).user.email : normalEmail(given)
  if (to === null || !isMailable(to)) throw invalidField('to', 'Mail cannot be sent to this address')
  const refused = await trySending(ctx, to)
  inTransaction(ctx.db, (tx) =>
    audit(ctx, tx, grant.actor, {
      action: 'mail.test',
      target: { kind: 'mail', id: null, name: to },
      after: { accepted: refused === null },
    }),
  )
  if (refused !== null) throw new AppError('bad_gateway', refused)
  return { accepted: true, to }
}

/** Null if the mail server took it, else why not. The mail holds nothing secret, so the server may quote it. */
async function trySending(ctx: Context, to: string): Promise<string | null> {
  const mail = { to: [to], ...testMail(ctx.adminUrl()), isAutomatic: true, mayQuote: true } as const
  try {
    await unlessAborted(ctx.mail.send(mail), AbortSignal.timeout(WAIT_MS))
    return null
  } catch (error) {
    if (error instanceof MailError) return error.message
    ctx.log.error('a test mail could not be sent', { error })
    return 'The mail could not be sent; the log says why'
  }
}
