import type { Context } from '../../context.ts'
import { shipped } from '../../db/shipped.ts'
import { onePer } from '../../platform/one-per.ts'
import { Sender } from '../../platform/outbox/sender.ts'
import { type DueDelivery, findDelivery, findHook, findNextDueAt, listDue } from './queries.ts'
import { receiverOf } from './receiver.ts'
import { sendOnce } from './send.ts'
import { settle } from './settle.ts'
import { wakerOf } from './wake.ts'

const senderOf = onePer(
  (ctx: Context) =>
    new Sender<DueDelivery>({
      name: 'webhook',
      now: ctx.now,
      log: ctx.log,
      waker: wakerOf(ctx),
      shipped: () => shipped(ctx),
      // The hooks take turns, and each starts as many as its receiver may get.
      listDue: (apart) => listDue(ctx.db, ctx.now(), apart),
      nextDueAt: () => findNextDueAt(ctx.db, ctx.now()),
      receiverOf: (one) => receiverOf(ctx, one.hookId),
      attempt: (one, stop) => attempt(ctx, one, stop),
    }),
)

/** Sends the outbox from now on. Returns a function that stops it; what is under way then is tried again later. */
export const startSending = (ctx: Context): (() => Promise<void>) => senderOf(ctx).start()

/** Sends all that is due, and what that leads to at once. For tests with a clock that stands still. */
export const sendDue = (ctx: Context): Promise<void> => senderOf(ctx).sendDue()

/** Sends one delivery now, before those that wait. */
export async function sendNow(ctx: Context, deliveryId: string): Promise<void> {
  const delivery = findDelivery(ctx.db.orm, deliveryId)
  if (delivery !== undefined) await senderOf(ctx).sendNow(delivery)
}

async function attempt(
  ctx: Context,
  { id, hookId }: DueDelivery,
  stop: AbortSignal,
): Promise<(() => void) | undefined> {
  const hook = findHook(ctx.db.orm, hookId)
  const delivery = findDelivery(ctx.db.orm, id)
  // Deleted or turned off while it waited for its turn.
  if (hook === undefined || delivery?.status !== 'pending') return undefined
  const outcome = await sendOnce(ctx, hook, delivery, stop)
  // Nobody knows whether it arrived: it is sent again after the start.
  if (stop.aborted && outcome.tried.status === null) return undefined
  return () => settle(ctx, id, outcome)
}
