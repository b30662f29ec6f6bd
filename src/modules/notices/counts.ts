import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { countPendingMails, findLastEnded, findRefusal, type LastMail } from './queries.ts'

/** How mails ended since the start, for the metrics. */
export const mailCounts = onePer((_: Context) => ({ sent: 0, failed: 0 }))

export const countWaitingMails = (ctx: Context): number => countPendingMails(ctx.db)

/** For the health page. `refused`: why a mail that waits was refused; null if none was. */
export const mailState = ({
  db,
}: Context): { waiting: number; refused: string | null; last: LastMail | undefined } => ({
  waiting: countPendingMails(db),
  refused: findRefusal(db),
  last: findLastEnded(db),
})
