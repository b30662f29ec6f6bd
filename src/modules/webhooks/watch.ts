import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import type { Stop } from '../../platform/in-steps.ts'
import type { EventName } from './events.ts'
import { listListeners, tellHooks } from './outbox.ts'
import { findLastTold } from './queries.ts'
import { risingErrors } from './rising.ts'

const OPERATOR = { kind: 'operator' } as const
const DAYS_LEFT_MS = 14 * DAY_MS

/** Looks for what nobody's request tells: errors that rise, and certificates that run out. Nothing without a hook for it. */
export async function watchForHooks(ctx: Context, _stop: Stop): Promise<void> {
  if (hasAnyHook(ctx, 'errors.rising')) tellOfErrors(ctx)
  if (listListeners(ctx.db, 'certificate.failing', null).length > 0) tellOfEnding(ctx)
}

function tellOfErrors(ctx: Context): void {
  for (const { projectId, ...data } of risingErrors(ctx))
    tellAtMostEach(ctx, { event: 'errors.rising', projectId, subject: null, everyMs: HOUR_MS, data })
}

function tellOfEnding(ctx: Context): void {
  for (const { hosts, expiresAt } of ctx.certificates.all())
    if (expiresAt - ctx.now() < DAYS_LEFT_MS)
      for (const host of hosts) tellOfCertificate(ctx, host, expiresAt, ctx.certificates.stateOf(host).error)
}

/** Once a day and host. `expiresAt` null: there is no certificate. */
export const tellOfCertificate = (
  ctx: Context,
  host: string,
  expiresAt: number | null,
  error: string | null,
): void =>
  tellAtMostEach(ctx, {
    event: 'certificate.failing',
    projectId: null,
    subject: host,
    everyMs: DAY_MS,
    data: { host, expiresAt: isoTimeOrNull(expiresAt), error },
  })

/** Once a streak, and once a day while it lasts: `lastGoodAt` is when the newest backup was made. */
export function tellOfBackup(ctx: Context, message: string, lastGoodAt: number | null): void {
  const toldAt = findLastTold(ctx.db, 'backup.failed', null, null)
  const isNewStreak = toldAt === null || (lastGoodAt !== null && lastGoodAt > toldAt)
  const everyMs = isNewStreak ? 0 : DAY_MS
  tellAtMostEach(ctx, { event: 'backup.failed', projectId: null, subject: null, everyMs, data: { message } })
}

type Told = {
  event: EventName
  projectId: string | null
  subject: string | null
  everyMs: number
  data: Record<string, unknown>
}

function tellAtMostEach(ctx: Context, { event, projectId, subject, everyMs, data }: Told): void {
  const toldAt = findLastTold(ctx.db, event, projectId, subject)
  if (toldAt !== null && ctx.now() - toldAt < everyMs && toldAt <= ctx.now()) return
  const about = subject === null ? {} : { subject }
  inTransaction(ctx.db, (tx) =>
    tellHooks(ctx, tx, { event, actor: OPERATOR, projectId, ...about, data: () => data }),
  )
}

const hasAnyHook = ({ db }: Context, event: EventName): boolean =>
  db.sqlite
    .query<unknown, [string]>(
      `SELECT 1 FROM webhooks WHERE is_enabled = 1
         AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN (?, '*')) LIMIT 1`,
    )
    .get(event) !== null

export const WATCH_MS = MINUTE_MS
