import { and, asc, desc, eq, isNull, type SQL } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../db/open.ts'
import { webhookDeliveries, webhookEvents, webhooks } from '../../db/schema-webhooks.ts'
import { countRows } from '../../db/select.ts'
import { prepared } from '../../db/statements.ts'

export type HookRow = typeof webhooks.$inferSelect
export type HookPatch = Partial<Omit<HookRow, 'id' | 'projectId' | 'createdAt' | 'waiting'>>

const ofPlace = (projectId: string | null): SQL =>
  projectId === null ? isNull(webhooks.projectId) : eq(webhooks.projectId, projectId)

export const listHookRows = (db: DbOrTx, projectId: string | null): HookRow[] =>
  db
    .select()
    .from(webhooks)
    .where(ofPlace(projectId))
    .orderBy(asc(webhooks.createdAt), asc(webhooks.id))
    .all()

export const countHooks = (db: DbOrTx, projectId: string | null): number =>
  countRows(db, webhooks, ofPlace(projectId))

export const findHook = (db: DbOrTx, id: string): HookRow | undefined =>
  db.select().from(webhooks).where(eq(webhooks.id, id)).get()

export const findSealedUrl = (db: Db, id: string): string | undefined =>
  prepared<{ sealedUrl: string }>(db, 'SELECT sealed_url AS sealedUrl FROM webhooks WHERE id = ?').get(id)
    ?.sealedUrl

export const insertHook = (db: DbOrTx, row: HookRow): void => void db.insert(webhooks).values(row).run()

export const updateHook = (db: DbOrTx, id: string, patch: HookPatch): void =>
  void db.update(webhooks).set(patch).where(eq(webhooks.id, id)).run()

export const deleteHookRow = (db: DbOrTx, id: string): void =>
  void db.delete(webhooks).where(eq(webhooks.id, id)).run()

export type DeliveryRow = typeof webhookDeliveries.$inferSelect & { event: string; body: string }
export type DeliveryStatus = DeliveryRow['status']

const withEvent = (db: DbOrTx) =>
  db
    .select({ delivery: webhookDeliveries, event: webhookEvents.event, body: webhookEvents.body })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.id, webhookDeliveries.eventId))

type Joined = { delivery: typeof webhookDeliveries.$inferSelect; event: string; body: string }
const flat = ({ delivery, event, body }: Joined): DeliveryRow => ({ ...delivery, event, body })

const ofHook = (hookId: string, status: DeliveryStatus | undefined): SQL | undefined =>
  and(
    eq(webhookDeliveries.hookId, hookId),
    status === undefined ? undefined : eq(webhookDeliveries.status, status),
  )

/** Newest first, unless `order` is `asc`. */
export const listDeliveryRows = (
  db: DbOrTx,
  hookId: string,
  status: DeliveryStatus | undefined,
  page: { limit: number; offset: number; order: 'asc' | 'desc' },
): DeliveryRow[] =>
  withEvent(db)
    .where(ofHook(hookId, status))
    .orderBy(page.order === 'asc' ? asc(webhookDeliveries.seq) : desc(webhookDeliveries.seq))
    .limit(page.limit)
    .offset(page.offset)
    .all()
    .map(flat)

export const countDeliveries = (db: DbOrTx, hookId: string, status: DeliveryStatus | undefined): number =>
  countRows(db, webhookDeliveries, ofHook(hookId, status))

export function findDelivery(db: DbOrTx, id: string): DeliveryRow | undefined {
  const found = withEvent(db).where(eq(webhookDeliveries.id, id)).get()
  return found && flat(found)
}

export const updateDelivery = (
  db: DbOrTx,
  id: string,
  patch: Pick<DeliveryRow, 'status' | 'tries' | 'triesLeft' | 'nextTryAt'>,
): void => void db.update(webhookDeliveries).set(patch).where(eq(webhookDeliveries.id, id)).run()

/** A hook that sends: enabled, and its project is there. */
const SENDS = `w.is_enabled = 1 AND (w.project_id IS NULL OR EXISTS (SELECT 1 FROM projects p WHERE p.id = w.project_id))`

export type DueDelivery = { id: string; hookId: string }

/** For each hook that sends its first due delivery that is not in `apart` (ids), the longest due first. */
export const listDue = (db: Db, now: number, apart: readonly string[]): DueDelivery[] =>
  prepared<DueDelivery>(
    db,
    `SELECT d.id, d.hook_id AS hookId FROM webhooks w JOIN webhook_deliveries d ON d.seq =
       (SELECT seq FROM webhook_deliveries WHERE hook_id = w.id AND status = 'pending' AND next_try_at <= ?
          AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY next_try_at, seq LIMIT 1)
     WHERE ${SENDS} ORDER BY d.next_try_at, d.seq`,
  ).all(now, JSON.stringify(apart))

/** When the next one after `now` is due; null if none waits. */
export const findNextDueAt = (db: Db, now: number): number | null =>
  prepared<{ at: number | null }>(
    db,
    `SELECT min(at) AS at FROM (SELECT (SELECT min(next_try_at) FROM webhook_deliveries
       WHERE hook_id = w.id AND status = 'pending' AND next_try_at > ?) AS at FROM webhooks w WHERE ${SENDS})`,
  ).get(now)?.at ?? null

export const countPending = (db: Db): number =>
  prepared<{ n: number }>(db, 'SELECT coalesce(sum(waiting), 0) AS n FROM webhooks').get()?.n ?? 0

/** Deliveries in a row that failed, after which a hook is failing. contract 16 §5. */
const FAILING_AFTER = 3

/** Whether the last deliveries of the hook that ended have all failed. */
export const isFailing = (db: Db, hookId: string): boolean =>
  prepared<{ n: number }>(
    db,
    `SELECT count(*) AS n FROM (SELECT status FROM webhook_deliveries
       WHERE hook_id = ? AND status <> 'pending' ORDER BY seq DESC LIMIT ${FAILING_AFTER}) WHERE status = 'failed'`,
  ).get(hookId)?.n === FAILING_AFTER

/** The hooks that are on, and how many of them are failing. */
export function countEnabled(db: Db): { hooks: number; failing: number } {
  const ids = prepared<{ id: string }>(db, `SELECT w.id FROM webhooks w WHERE ${SENDS}`).all()
  return { hooks: ids.length, failing: ids.filter(({ id }) => isFailing(db, id)).length }
}

/** When hooks were told of it last; null if never, or if what is known of it is gone with its hooks. */
export const findLastTold = (db: Db, event: string, projectId: string | null, subject: string | null) =>
  prepared<{ at: number | null }>(
    db,
    `SELECT max(created_at) AS at FROM webhook_events WHERE event = ? AND project_id IS ? AND subject IS ?`,
  ).get(event, projectId, subject)?.at ?? null

/** Removes some ended deliveries from before `before`, or past the newest `keep` of their hook; returns how many. */
export function deleteOldDeliveries(db: Db, before: number, keep: number, limit: number): number {
  const old = prepared(
    db,
    `DELETE FROM webhook_deliveries WHERE seq IN
       (SELECT seq FROM webhook_deliveries WHERE status <> 'pending' AND created_at < ? LIMIT ?)`,
  ).run(before, limit).changes
  const past = prepared(
    db,
    `DELETE FROM webhook_deliveries WHERE seq IN
       (SELECT d.seq FROM webhooks w JOIN webhook_deliveries d ON d.hook_id = w.id
        WHERE d.status <> 'pending' AND d.seq <=
          (SELECT seq FROM webhook_deliveries WHERE hook_id = w.id ORDER BY seq DESC LIMIT 1 OFFSET ?) LIMIT ?)`,
  ).run(keep, limit).changes
  return old + past
}

/** Removes some events that no delivery names any more; returns how many. */
export const deleteUnusedEvents = (db: Db, limit: number): number =>
  prepared(
    db,
    `DELETE FROM webhook_events WHERE id IN (SELECT e.id FROM webhook_events e WHERE NOT EXISTS
       (SELECT 1 FROM webhook_deliveries d WHERE d.event_id = e.id) LIMIT ?)`,
  ).run(limit).changes
