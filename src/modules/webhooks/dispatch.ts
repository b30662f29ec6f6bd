import type { Context } from '../../context.ts'
import { onePer } from '../../platform/one-per.ts'
import { type DueDelivery, findDelivery, findHook, findNextDueAt, type HookRow, listDue } from './queries.ts'
import { originOfHook } from './sealed.ts'
import { type Outcome, sendOnce } from './send.ts'
import { settle } from './settle.ts'
import { Slots } from './slots.ts'
import { onNewDeliveries } from './wake.ts'

/** The longest sleep while something waits: the clock may be set. */
const MAX_SLEEP_MS = 30_000
/** The pause after a failure of the database. */
const PAUSE_MS = 5_000

const stateOf = onePer((_: Context) => ({
  slots: new Slots(),
  sending: new Map<string, Promise<void>>(),
  stopping: new AbortController(),
}))

/** Sends the outbox from now on. Returns a function that stops it; what is under way then is tried again later. */
export function startSending(ctx: Context): () => Promise<void> {
  let timer: Timer | undefined
  let isStopped = false
  const round = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (isStopped) return
    timer = setTimeout(round, startAll(ctx, round) ?? MAX_SLEEP_MS)
    timer.unref()
  }
  const stopListening = onNewDeliveries(ctx, round)
  round()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    stopListening()
    const { sending, stopping } = stateOf(ctx)
    stopping.abort(new Error('The server is stopping'))
    await Promise.all(sending.values())
  }
}

/** Sends all that is due, and what that leads to at once. For tests with a clock that stands still. */
export async function sendDue(ctx: Context): Promise<void> {
  const { sending } = stateOf(ctx)
  for (startDue(ctx, () => {}); sending.size > 0; startDue(ctx, () => {}))
    await Promise.race(sending.values())
}

/** Sends one delivery now, before those that wait. */
export async function sendNow(ctx: Context, deliveryId: string): Promise<void> {
  const delivery = findDelivery(ctx.db.orm, deliveryId)
  const hook = delivery && findHook(ctx.db.orm, delivery.hookId)
  if (delivery === undefined || hook === undefined) return
  const origin = originOf(ctx, hook)
  const { slots, sending } = stateOf(ctx)
  const turn = slots.take(origin).then(() => attempt(ctx, hook, delivery.id, origin))
  sending.set(delivery.id, turn)
  await turn
}

/** Starts what is due; returns after how many ms to look again. */
function startAll(ctx: Context, onEnd: () => void): number | undefined {
  try {
    startDue(ctx, onEnd)
    const next = findNextDueAt(ctx.db, ctx.now())
    return next === null ? undefined : Math.min(Math.max(0, next - ctx.now()), MAX_SLEEP_MS)
  } catch (error) {
    ctx.log.error('webhooks could not be read', { error })
    return PAUSE_MS
  }
}

/** The hooks take turns, and each starts as many as its receiver may get. */
function startDue(ctx: Context, onEnd: () => void): void {
  const { slots, sending } = stateOf(ctx)
  for (let isStarting = true; isStarting && !slots.isFull; ) {
    const due = listDue(ctx.db, ctx.now(), [...sending.keys()])
    isStarting = due.map((one) => start(ctx, one, onEnd)).includes(true)
  }
}

function start(ctx: Context, { id, hookId }: DueDelivery, onEnd: () => void): boolean {
  const { slots, sending } = stateOf(ctx)
  const hook = findHook(ctx.db.orm, hookId)
  if (hook === undefined) return false
  const origin = originOf(ctx, hook)
  if (!slots.tryTake(origin)) return false
  sending.set(id, attempt(ctx, hook, id, origin).then(onEnd))
  return true
}

/** One try, with a slot that is given back. Never rejects. */
async function attempt(ctx: Context, hook: HookRow, id: string, origin: string): Promise<void> {
  const { slots, sending, stopping } = stateOf(ctx)
  try {
    const delivery = findDelivery(ctx.db.orm, id)
    // Deleted or turned off while it waited for its turn.
    if (delivery?.status !== 'pending' || stopping.signal.aborted) return
    const outcome = await sendOnce(ctx, hook, delivery, stopping.signal)
    // Nobody knows whether it arrived: it is sent again after the start.
    if (!stopping.signal.aborted || outcome.tried.status !== null) await keep(ctx, id, outcome)
  } catch (error) {
    ctx.log.error('a webhook could not be sent', { hook: hook.id, error })
  } finally {
    sending.delete(id)
    slots.release(origin)
  }
}

/** Until it is written down it counts as being sent, so that a full disk does not make it go out again and again. */
async function keep(ctx: Context, id: string, outcome: Outcome): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return settle(ctx, id, outcome)
    } catch (error) {
      if (tries === 0) ctx.log.error('the result of a webhook could not be written', { error })
      if (tries >= MAX_WRITES || stateOf(ctx).stopping.signal.aborted) throw error
      await sleepUnless(stateOf(ctx).stopping.signal, PAUSE_MS)
    }
  }
}

const MAX_WRITES = 12

const sleepUnless = (stop: AbortSignal, ms: number): Promise<unknown> =>
  Promise.race([
    Bun.sleep(ms),
    new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true })),
  ])

/** An address that this key cannot open is one receiver that fails. */
const originOf = (ctx: Context, hook: HookRow): string => originOfHook(ctx.secrets, hook) || hook.id
