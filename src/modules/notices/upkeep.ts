import type { Context } from '../../context.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { deleteMailsBefore } from './queries.ts'

const KEPT_MS = 30 * DAY_MS
const REMOVED_AT_ONCE = 500

/** Removes mails that ended 30 days ago. */
export async function removeOldMails(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const remove = () => deleteMailsBefore(ctx.db, ctx.now() - KEPT_MS, REMOVED_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, remove) === REMOVED_AT_ONCE)
}
