import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/open.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { isoTimeOrNull } from '../../domain/iso-time.ts'
import type { Stop } from '../../platform/in-steps.ts'
import type { AdminNotice } from '../notices/kinds.ts'
import { isOlder, tellAdmins } from '../notices/tell.ts'
import { backupFailed, certificateFailing, type MailText } from '../notices/texts.ts'
import type { EventName } from './events.ts'
import { listListeners, tellHooks } from './outbox.ts'
import { findLastTold } from './queries.ts'
import { risingErrors } from './rising.ts'

const OPERATOR = { kind: 'operator' } as const
const DAYS_LEFT_MS = 14 * DAY_MS

/** Looks for what nobody's request tells: errors that rise, and certificates that run out. Nothing if nobody wants to know. */
export async function watchForHooks(ctx: Context, _stop: Stop): Promise<void> {
  if (hasAnyHook(ctx, 'errors.rising')) tellOfErrors(ctx)
  const isHeard = listListeners(ctx.db, 'certificate.failing', null).length > 0
  if (isHeard || ctx.mail.isConfigured) tellOfEnding(ctx)
}

function tellOfErrors(ctx: Context): void {
  for (const { projectId, ...data } of risingErrors(ctx))
    tell(ctx, {
      event: 'errors.rising',
      projectId,
      subject: null,
      isDue: (toldAt) => isOlder(ctx, toldAt, HOUR_MS),
      data,
    })
}

function tellOfEnding(ctx: Context): void {
  for (const { hosts, expiresAt } of ctx.certificates.all())
    if (expiresAt - ctx.now() < DAYS_LEFT_MS)
      for (const host of hosts) tellOfCertificate(ctx, host, expiresAt, ctx.certificates.stateOf(host).error)
}

/** Once a day and host. `expiresAt` null: there is no certificate. */
export function tellOfCertificate(
  ctx: Context,
  host: string,
  expiresAt: number | null,
  error: string | null,
): void {
  const data = { host, expiresAt: isoTimeOrNull(expiresAt), error }
  tell(ctx, {
    event: 'certificate.failing',
    projectId: null,
    subject: host,
    isDue: (toldAt) => isOlder(ctx, toldAt, DAY_MS),
    data,
    mail: { notice: 'certificateFailing', about: host, text: certificateFailing(data, ctx.adminUrl()) },
  })
}

/** Once a streak, and once a day while it lasts: `lastGoodAt` is when the newest backup was made. */
export function tellOfBackup(ctx: Context, message: string, lastGoodAt: number | null): void {
  const isNewStreak = (toldAt: number) => lastGoodAt !== null && lastGoodAt > toldAt
  tell(ctx, {
    event: 'backup.failed',
    projectId: null,
    subject: null,
    isDue: (toldAt) => toldAt === null || isNewStreak(toldAt) || isOlder(ctx, toldAt, DAY_MS),
    data: { message },
    mail: { notice: 'backupFailed', about: '', text: backupFailed(message, ctx.adminUrl()) },
  })
}

type Told = {
  event: EventName
  projectId: string | null
  subject: string | null
  /** Whether it may be told again, by when it was told last (null: never). */
  isDue: (toldAt: number | null) => boolean
  data: Record<string, unknown>
  /** The admins are mailed too, with the same pauses. */
  mail?: { notice: AdminNotice; about: string; text: MailText }
}

function tell(ctx: Context, { event, projectId, subject, isDue, data, mail }: Told): void {
  const isForHooks = isDue(findLastTold(ctx.db, event, projectId, subject))
  const about = subject === null ? {} : { subject }
  inTransaction(ctx.db, (tx) => {
    if (isForHooks) tellHooks(ctx, tx, { event, actor: OPERATOR, projectId, ...about, data: () => data })
    if (mail !== undefined) tellAdmins(ctx, tx, { ...mail, isDue })
  })
}

const hasAnyHook = ({ db }: Context, event: EventName): boolean =>
  db.sqlite
    .query<unknown, [string]>(
      `SELECT 1 FROM webhooks WHERE is_enabled = 1
         AND EXISTS (SELECT 1 FROM json_each(events) WHERE value IN (?, '*')) LIMIT 1`,
    )
    .get(event) !== null

export const WATCH_MS = MINUTE_MS
