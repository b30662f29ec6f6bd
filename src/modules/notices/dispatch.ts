import type { Context } from '../../context.ts'
import { shipped } from '../../db/shipped.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { onePer } from '../../platform/one-per.ts'
import { Sender } from '../../platform/outbox/sender.ts'
import { failUnsentMails, findMail, findNextMailAt, listDueMails } from './queries.ts'
import { sendMail } from './send.ts'
import { settleMail } from './settle.ts'
import { mailWakerOf } from './wake.ts'

const AT_ONCE = 8

const senderOf = onePer(
  (ctx: Context) =>
    new Sender<{ id: string }>({
      name: 'mail',
      now: ctx.now,
      log: ctx.log,
      waker: mailWakerOf(ctx),
      shipped: () => shipped(ctx),
      listDue: (apart) => listDueMails(ctx.db, ctx.now(), apart, AT_ONCE),
      nextDueAt: () => findNextMailAt(ctx.db, ctx.now()),
      receiverOf: () => 'the mail server',
      attempt: ({ id }, stop) => attempt(ctx, id, stop),
    }),
)

/** Sends mails from now on. Returns a function that stops it. */
export const startMailing = (ctx: Context): (() => Promise<void>) => senderOf(ctx).start()

/** Without a mail server: what waits from before ends. */
export function failMails({ db, now }: Context): void {
  inUpkeepTransaction(db, () =>
    failUnsentMails(db, { sql: '1', values: [] }, 'no mail server is set up', now()),
  )
}

/** Sends all that is due. For tests with a clock that stands still. */
export const sendDueMails = (ctx: Context): Promise<void> => senderOf(ctx).sendDue()

async function attempt(ctx: Context, id: string, stop: AbortSignal): Promise<(() => void) | undefined> {
  const mail = findMail(ctx.db.orm, id)
  // Ended while it waited for its turn.
  if (mail?.status !== 'pending') return undefined
  const outcome = await sendMail(ctx, mail, stop)
  return outcome === undefined ? undefined : () => settleMail(ctx, id, outcome)
}
