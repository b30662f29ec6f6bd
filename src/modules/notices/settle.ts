import type { Context } from '../../context.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { MAX_TRIES, retryDelayMs } from '../../platform/outbox/retry.ts'
import { fractionOf } from '../../platform/random.ts'
import { mailCounts } from './counts.ts'
import { findMail, type MailRow, updateMail } from './queries.ts'
import type { MailOutcome } from './send.ts'

/** Writes what came of a try: sent, another try later, or failed. The text of a mail that has ended goes. */
export function settleMail(ctx: Context, id: string, { error, isFinal }: MailOutcome): void {
  inUpkeepTransaction(ctx.db, (tx) => {
    const mail = findMail(tx, id)
    if (mail === undefined) return
    const triesLeft = mail.status === 'pending' && !isFinal ? Math.max(0, mail.triesLeft - 1) : 0
    if (error !== null && triesLeft > 0)
      return updateMail(tx, id, { error, triesLeft, nextTryAt: nextTryAt(ctx, triesLeft) })
    if (error !== null) ctx.log.warn('a mail was given up', { notice: mail.notice, why: error })
    const status: MailRow['status'] = error === null ? 'sent' : 'failed'
    mailCounts(ctx)[status] += 1
    updateMail(tx, id, { status, error, sealed: null, triesLeft: 0, nextTryAt: null, endedAt: ctx.now() })
  })
}

const nextTryAt = (ctx: Context, triesLeft: number): number =>
  ctx.now() +
  retryDelayMs({
    failed: MAX_TRIES - triesLeft,
    waits: ctx.config.webhookRetrySeconds,
    retryAfterMs: 0,
    random: fractionOf(ctx.newId()),
  })
