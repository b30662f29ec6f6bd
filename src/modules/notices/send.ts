import type { Context } from '../../context.ts'
import { DAY_MS, WEEK_MS } from '../../domain/durations.ts'
import { MailError } from '../../platform/mail.ts'
import { isStillThere, type MailRow } from './queries.ts'
import { openMail } from './sealed.ts'

/** How long one try may take: a mail server may be slow on purpose. */
const TRY_MS = 60_000
/** The links in mails are good for a week. */
const TOO_OLD_MS = WEEK_MS - DAY_MS

/** `error` null: the mail server took it. `isFinal`: it is not tried again. */
export type MailOutcome = { error: string | null; isFinal?: true }

/** One try. Undefined when `stop` was aborted meanwhile: nobody knows whether it arrived. */
export async function sendMail(
  ctx: Context,
  mail: MailRow,
  stop: AbortSignal,
): Promise<MailOutcome | undefined> {
  if (!isStillThere(ctx.db, mail)) return { error: 'the account or the project is gone', isFinal: true }
  if (ctx.now() - mail.createdAt > TOO_OLD_MS) return { error: 'too old', isFinal: true }
  try {
    await unlessAborted(deliver(ctx, mail), AbortSignal.any([stop, AbortSignal.timeout(TRY_MS)]))
    return { error: null }
  } catch (error) {
    if (stop.aborted) return undefined
    if (error instanceof MailError) return { error: error.message }
    ctx.log.error('a mail could not be sent', { notice: mail.notice, error })
    return { error: 'it could not be sent; the log says why' }
  }
}

async function deliver(ctx: Context, { id, address, sealed }: MailRow): Promise<void> {
  await ctx.mail.send({
    to: [address],
    ...openMail(ctx.secrets, id, sealed ?? ''),
    isAutomatic: true,
  })
}

/** Rejects when the signal is aborted; the work goes on, and what comes of it is not looked at. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {})
  const { promise, reject } = Promise.withResolvers<never>()
  const refuse = () => reject(new MailError('The mail server did not answer in time'))
  signal.addEventListener('abort', refuse, { once: true })
  try {
    if (signal.aborted) refuse()
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', refuse)
  }
}
