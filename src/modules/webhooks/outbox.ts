import type { Context } from '../../context.ts'
import { actorFacts } from '../../db/audit.ts'
import type { Db, DbOrTx } from '../../db/open.ts'
import { prepared } from '../../db/statements.ts'
import type { Actor } from '../../domain/actor.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { MAX_TRIES } from '../../platform/outbox/retry.ts'
import { deliveryCounts } from './counts.ts'
import type { EventBody, EventName } from './events.ts'
import { type Try, unsentTry } from './tries.ts'
import { wakerOf } from './wake.ts'

type NewEvent = {
  event: EventName
  actor: Actor
  /** Null: only the workspace's hooks are told. */
  projectId: string | null
  /** For events that come once a day or hour: what they are about. */
  subject?: string
  /** Asked only if a hook wants it. */
  data: () => Record<string, unknown>
}

/** How many deliveries of one hook may wait; then the oldest fail. */
export const MAX_WAITING = 1000

/**
 * Tells the hooks: writes their deliveries in the caller's transaction `tx`, so that there is none of what is rolled
 * back. They are sent after the commit. Without hooks this is one look into an empty table.
 */
export function tellHooks(ctx: Context, tx: DbOrTx, event: NewEvent): void {
  const hookIds = listListeners(ctx.db, event.event, event.projectId)
  if (hookIds.length > 0) tellThese(ctx, tx, hookIds, event)
}

/** The same for the hooks named; returns the ids of the deliveries. `triesLeft`: how often each may be tried. */
export function tellThese(
  ctx: Context,
  _tx: DbOrTx,
  hookIds: readonly string[],
  event: NewEvent,
  triesLeft = MAX_TRIES,
): string[] {
  const at = ctx.now()
  const insertEvent = prepared<{ id: number }>(
    ctx.db,
    'INSERT INTO webhook_events (event, project_id, subject, body, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
  )
  const body = JSON.stringify(bodyOf(ctx, event, at))
  const eventId = insertEvent.get(event.event, event.projectId, event.subject ?? null, body, at)?.id ?? 0
  const deliveries = hookIds.map((hookId) => ({ id: ctx.newId(), hookId }))
  prepared(
    ctx.db,
    `INSERT INTO webhook_deliveries (id, hook_id, event_id, status, tries, tries_left, next_try_at, created_at)
     SELECT value ->> 'id', value ->> 'hookId', ?, 'pending', '[]', ?, ?, ? FROM json_each(?)`,
  ).run(eventId, triesLeft, at, at, JSON.stringify(deliveries))
  dropOldest(ctx, hookIds, at)
  wakerOf(ctx).afterCommit()
  return deliveries.map(({ id }) => id)
}

/** The enabled hooks that want the event. */
export const listListeners = (db: Db, event: EventName, projectId: string | null): string[] =>
  prepared<{ id: string }>(
    db,
    `SELECT id FROM webhooks WHERE is_enabled = 1 AND (project_id IS NULL OR project_id = ?)
       AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN (?, '*')) ORDER BY created_at, id`,
  )
    .all(projectId, event)
    .map(({ id }) => id)

function bodyOf(ctx: Context, { event, actor, projectId, data }: NewEvent, at: number): EventBody {
  const project = prepared<{ id: string; owner: string; name: string }>(
    ctx.db,
    'SELECT id, owner, name FROM projects WHERE id = ?',
  ).get(projectId)
  return {
    event,
    createdAt: isoTime(at),
    workspace: { url: ctx.adminUrl() },
    project,
    actor: actorFacts(actor),
    data: data(),
  }
}

function dropOldest(ctx: Context, hookIds: readonly string[], at: number): void {
  const full = prepared<{ id: string; excess: number }>(
    ctx.db,
    `SELECT id, waiting - ${MAX_WAITING} AS excess FROM webhooks
     WHERE waiting > ${MAX_WAITING} AND id IN (SELECT value FROM json_each(?))`,
  ).all(JSON.stringify(hookIds))
  const oldest = prepared<{ seq: number }>(
    ctx.db,
    "SELECT seq FROM webhook_deliveries WHERE hook_id = ? AND status = 'pending' ORDER BY seq LIMIT ?",
  )
  for (const { seq } of full.flatMap(({ id, excess }) => oldest.all(id, excess))) {
    failUnsent(ctx.db, 'seq = ?', seq, unsentTry(at, 'dropped'))
    deliveryCounts(ctx).dropped += 1
  }
}

/** Fails what waits and matches, with the reason as its last try; returns how many. */
export const failUnsent = (db: Pick<Db, 'sqlite'>, where: string, value: string | number, why: Try): number =>
  db.sqlite
    .query<unknown, [string, string | number]>(
      `UPDATE webhook_deliveries SET status = 'failed', next_try_at = NULL, tries_left = 0,
         tries = json_insert(tries, '$[#]', json(?)) WHERE status = 'pending' AND ${where}`,
    )
    .run(JSON.stringify(why), value).changes
