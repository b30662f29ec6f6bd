import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { MAX_TRIES } from '../../platform/outbox/retry.ts'
import type { Grant } from '../auth/authorize.ts'
import { sendNow } from './dispatch.ts'
import type { DeliveryView, WholeDelivery } from './model.ts'
import { tellThese } from './outbox.ts'
import {
  countDeliveries,
  type DeliveryRow,
  type DeliveryStatus,
  findDelivery,
  type HookRow,
  listDeliveryRows,
  updateDelivery,
} from './queries.ts'
import { shownRequest } from './request.ts'
import { requireHook } from './service.ts'
import { deliveryView, triesOf } from './view.ts'
import { wakerOf } from './wake.ts'

/** What was sent and waits to be sent, newest first. */
export function listDeliveries(
  ctx: Context,
  grant: Grant,
  hookId: string,
  query: PaginationQuery & { status?: string | undefined },
): Paginated<DeliveryView> {
  const hook = requireHook(ctx.db.orm, grant, hookId)
  const page = parsePagination(query, {
    sortable: ['createdAt'] as const,
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const status = parseStatus(query.status)
  const rows = listDeliveryRows(ctx.db.orm, hook.id, status, page)
  return paginated(rows.map(deliveryView), countDeliveries(ctx.db.orm, hook.id, status), page)
}

/** With the request of its last try, or as it would be sent now. */
export function getDelivery(ctx: Context, grant: Grant, hookId: string, id: string): WholeDelivery {
  const hook = requireHook(ctx.db.orm, grant, hookId)
  const row = requireDelivery(ctx, hook, id)
  const last = triesOf(row).at(-1)
  const { headers, body } = shownRequest(ctx, hook, row, last === undefined ? ctx.now() : Date.parse(last.at))
  return { ...deliveryView(row), request: { headers: Object.fromEntries(headers), body } }
}

/** The same delivery again, with all its tries. Throws 409 for a hook that is off. */
export function resend(ctx: Context, grant: Grant, hookId: string, id: string): DeliveryView {
  return inTransaction(ctx.db, (tx) => {
    const hook = requireEnabled(requireHook(tx, grant, hookId))
    const row = requireDelivery(ctx, hook, id)
    const again = { status: 'pending', triesLeft: MAX_TRIES, nextTryAt: ctx.now(), tries: row.tries } as const
    updateDelivery(tx, id, again)
    wakerOf(ctx).afterCommit()
    return deliveryView({ ...row, ...again })
  })
}

/** Sends a `ping` once and waits for the answer. Throws 409 for a hook that is off. */
export async function testHook(ctx: Context, grant: Grant, hookId: string): Promise<DeliveryView> {
  const [id = ''] = inTransaction(ctx.db, (tx) => {
    const hook = requireEnabled(requireHook(tx, grant, hookId))
    const ping = { event: 'ping', actor: grant.actor, projectId: hook.projectId, data: () => ({}) } as const
    return tellThese(ctx, tx, [hook.id], ping, 1)
  })
  await sendNow(ctx, id)
  return deliveryView(requireDelivery(ctx, requireHook(ctx.db.orm, grant, hookId), id))
}

export function requireDelivery(ctx: Context, hook: HookRow, id: string | undefined): DeliveryRow {
  const found = id === undefined ? undefined : findDelivery(ctx.db.orm, id)
  if (found === undefined || found.hookId !== hook.id)
    throw new AppError('not_found', 'The webhook has no such delivery')
  return found
}

function requireEnabled(hook: HookRow): HookRow {
  if (!hook.isEnabled)
    throw new AppError('conflict', 'The webhook is turned off: turn it on first', { code: 'WEBHOOK_IS_OFF' })
  return hook
}

function parseStatus(text: string | undefined): DeliveryStatus | undefined {
  if (text === undefined || text === '') return undefined
  if (text === 'pending' || text === 'delivered' || text === 'failed') return text
  throw invalidField('status', 'pending, delivered or failed')
}
