import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { DAY_MS } from '../../domain/durations.ts'
import { hasAtLeast } from '../../domain/roles.ts'
import { effectiveRoles } from '../members/service.ts'
import type { AdminNotice } from './kinds.ts'
import { queueMail } from './outbox.ts'
import { type Addressee, findLastMailed, isOff, listPeople, listWorkspaceAdmins } from './queries.ts'
import { type MailText, newDevice } from './texts.ts'

type AdminMail = {
  notice: AdminNotice
  /** What it is about: a host, a hook. */
  about: string
  /** Its admins are told too. */
  projectId?: string | null
  text: MailText
  /** Whether it may be told again, by when it was told last (null: never). Without it, once a day. */
  isDue?: (toldAt: number | null) => boolean
}

/**
 * Mails the admins of the workspace, and those of a project, except who turned the notice off. In the caller's
 * transaction. Nothing without a mail server.
 */
export function tellAdmins(ctx: Context, tx: DbOrTx, mail: AdminMail): void {
  if (!ctx.mail.isConfigured) return
  const { notice, about, projectId = null, text, isDue = (at) => isOlder(ctx, at, DAY_MS) } = mail
  if (!isDue(findLastMailed(ctx.db, notice, about))) return
  for (const { id, email } of adminsOf(ctx, projectId))
    if (!isOff(tx, id, notice))
      queueMail(ctx, tx, { notice, address: email, userId: id, about, projectId }, text)
}

/** Whether `at` is so long ago, or never was. A time that is ahead of a corrected clock counts as long ago. */
export const isOlder = (ctx: Context, at: number | null, ms: number): boolean =>
  at === null || ctx.now() - at >= ms || at > ctx.now()

function adminsOf(ctx: Context, projectId: string | null): Addressee[] {
  const ofWorkspace = listWorkspaceAdmins(ctx.db)
  if (projectId === null) return ofWorkspace
  const known = new Set(ofWorkspace.map(({ id }) => id))
  const ids = [...effectiveRoles(ctx, projectId)].filter(
    ([id, role]) => !known.has(id) && hasAtLeast(role, 'admin'),
  )
  return [
    ...ofWorkspace,
    ...listPeople(
      ctx.db,
      ids.map(([id]) => id),
    ),
  ]
}

/** Tells a person of a sign-in on something that their account does not know, in the caller's transaction. */
export function tellOfNewDevice(
  ctx: Context,
  tx: DbOrTx,
  { id, email }: Addressee,
  facts: Parameters<typeof newDevice>[0],
): void {
  if (!ctx.mail.isConfigured || isOff(tx, id, 'newDevice')) return
  queueMail(ctx, tx, { notice: 'newDevice', address: email, userId: id }, newDevice(facts, ctx.adminUrl()))
}
