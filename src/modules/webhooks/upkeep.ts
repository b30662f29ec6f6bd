import type { Context } from '../../context.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { deleteOldDeliveries, deleteUnusedEvents } from './queries.ts'

const KEPT_MS = 30 * DAY_MS
const KEPT_OF_ONE = 1000
const REMOVED_AT_ONCE = 200

/** Removes deliveries that ended 30 days ago, and those past the newest 1000 of their hook. */
export async function removeOldDeliveries(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const before = ctx.now() - KEPT_MS
  const removeDeliveries = () => deleteOldDeliveries(ctx.db, before, KEPT_OF_ONE, REMOVED_AT_ONCE)
  const removeEvents = () => deleteUnusedEvents(ctx.db, REMOVED_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, removeDeliveries) >= REMOVED_AT_ONCE)
  await inSteps(stop, () => inRelaxedTransaction(ctx.db, removeEvents) === REMOVED_AT_ONCE)
}
