import type { Context } from '../../context.ts'
import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import type { DeliveryView, HookView } from './model.ts'
import { type DeliveryRow, type HookRow, listDeliveryRows } from './queries.ts'
import { originOfHook, REDACTED, readableUrl, sealedHeadersOf } from './sealed.ts'
import type { Try } from './tries.ts'

const NEWEST = { limit: 1, offset: 0, order: 'desc' } as const

export function hookView(ctx: Context, row: HookRow): HookView {
  const { id, projectId, name, kind, isEnabled, disabledReason } = row
  const [last] = listDeliveryRows(ctx.db.orm, id, undefined, NEWEST)
  return {
    id,
    projectId,
    name,
    url: readableUrl(ctx.secrets, row),
    events: eventsOf(row),
    kind,
    headers: redactedHeaders(row),
    isEnabled,
    disabledReason,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    lastDelivery: last === undefined ? null : deliveryView(last),
  }
}

/** For the audit log: of the URL the origin alone. */
export const auditView = (ctx: Context, row: HookRow) => ({
  name: row.name,
  url: originOfHook(ctx.secrets, row),
  kind: row.kind,
  events: eventsOf(row),
  headers: Object.keys(sealedHeadersOf(row)),
  isEnabled: row.isEnabled,
})

export const deliveryView = (row: DeliveryRow): DeliveryView => ({
  id: row.id,
  event: row.event,
  createdAt: isoTime(row.createdAt),
  status: row.status,
  tries: triesOf(row),
  nextTryAt: isoTimeOrNull(row.nextTryAt),
})

export const triesOf = ({ tries }: Pick<DeliveryRow, 'tries'>): Try[] => JSON.parse(tries) as Try[]

const eventsOf = ({ events }: HookRow): string[] => JSON.parse(events) as string[]

const redactedHeaders = (row: HookRow): Record<string, string> =>
  Object.fromEntries(Object.keys(sealedHeadersOf(row)).map((name) => [name, REDACTED]))
