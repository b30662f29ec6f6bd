import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inUpkeepTransaction } from '../../db/tidying.ts'
import { MAX_TRIES, retryDelayMs } from '../../platform/outbox/retry.ts'
import { fractionOf } from '../../platform/random.ts'
import { tellAdmins } from '../notices/tell.ts'
import { webhookFailing } from '../notices/texts.ts'
import { deliveryCounts } from './counts.ts'
import { type DeliveryRow, findDelivery, findHook, isFailing, updateDelivery, updateHook } from './queries.ts'
import type { Outcome } from './send.ts'
import { aboutHook, endWaiting } from './service.ts'
import type { Try } from './tries.ts'
import { triesOf } from './view.ts'

const GONE = 410

/** Writes what came of a try: delivered, another try later, or failed. 410 turns the hook off. */
export function settle(ctx: Context, deliveryId: string, outcome: Outcome): void {
  inUpkeepTransaction(ctx.db, (tx) => {
    const row = findDelivery(tx, deliveryId)
    // Deleted meanwhile, with its hook.
    if (row === undefined) return
    const next = afterTry(ctx, row, outcome)
    updateDelivery(tx, row.id, { ...next, tries: JSON.stringify([...triesOf(row), outcome.tried]) })
    if (next.status !== 'pending') deliveryCounts(ctx)[next.status] += 1
    if (next.status === 'failed') tellOfFailing(ctx, tx, row.hookId, outcome.tried)
    if (outcome.tried.status === GONE) turnOff(ctx, tx, row.hookId)
  })
}

/** Mails the admins when the last deliveries of a hook failed, once a day. contract 16 §5. */
function tellOfFailing(ctx: Context, tx: DbOrTx, hookId: string, { status, error }: Try): void {
  const hook = findHook(tx, hookId)
  if (hook === undefined || !isFailing(ctx.db, hookId)) return
  const { name, projectId } = hook
  const path = `${projectId === null ? '/admin' : `/projects/${projectId}`}/webhooks/${hookId}`
  const why = error ?? `the receiver answered ${status}`
  const text = webhookFailing({ hook: name, path, error: why }, ctx.adminUrl())
  tellAdmins(ctx, tx, { notice: 'webhookFailing', about: hookId, projectId, text })
}

function afterTry(
  ctx: Context,
  row: DeliveryRow,
  { tried, retryAfterMs }: Outcome,
): Pick<DeliveryRow, 'status' | 'triesLeft' | 'nextTryAt'> {
  const { status } = tried
  if (status !== null && status >= 200 && status < 300)
    return { status: 'delivered', triesLeft: 0, nextTryAt: null }
  // Turned off meanwhile, or there is no try left.
  const triesLeft = row.status === 'pending' ? Math.max(0, row.triesLeft - 1) : 0
  if (status === GONE || triesLeft === 0) return { status: 'failed', triesLeft: 0, nextTryAt: null }
  const delay = retryDelayMs({
    failed: MAX_TRIES - triesLeft,
    waits: ctx.config.webhookRetrySeconds,
    retryAfterMs,
    random: fractionOf(ctx.newId()),
  })
  return { status: 'pending', triesLeft, nextTryAt: ctx.now() + delay }
}

/** The receiver says that it wants nothing any more. */
function turnOff(ctx: Context, tx: DbOrTx, hookId: string): void {
  const hook = findHook(tx, hookId)
  if (hook === undefined || !hook.isEnabled) return
  updateHook(tx, hookId, { isEnabled: false, disabledReason: 'gone', updatedAt: ctx.now() })
  endWaiting(ctx, hookId)
  audit(ctx, tx, { kind: 'operator' }, { ...aboutHook('webhook.off', hook), after: { reason: 'gone' } })
}
