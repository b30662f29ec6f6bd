import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { MAX_TRIES } from '../../platform/outbox/retry.ts'
import type { MailKind } from './kinds.ts'
import { countMailsTo, failUnsentMails, insertMail } from './queries.ts'
import { sealMail } from './sealed.ts'
import type { MailText } from './texts.ts'
import { mailWakerOf } from './wake.ts'

export type NewMail = {
  notice: MailKind
  address: string
  /** The account that it is for; null for somebody without one. */
  userId: string | null
  projectId?: string | null
  /** For notices that come once a day: what they are about. */
  about?: string
}

/**
 * Writes a mail in the caller's transaction `tx`, so that there is none of what is rolled back. It is sent after the
 * commit. Nothing where no mail server is set up.
 */
export function queueMail(ctx: Context, tx: DbOrTx, mail: NewMail, text: MailText): void {
  if (!ctx.mail.isConfigured) return
  const id = ctx.newId()
  const at = ctx.now()
  const { notice, address, userId, projectId = null, about = null } = mail
  insertMail(tx, {
    id,
    notice,
    address,
    userId,
    projectId,
    about,
    sealed: sealMail(ctx.secrets, id, text),
    status: 'pending',
    error: null,
    triesLeft: MAX_TRIES,
    nextTryAt: at,
    createdAt: at,
    endedAt: null,
  })
  mailWakerOf(ctx).afterCommit()
}

/** What became of the mail of an invitation. contract 16 §5. */
export type InvitationMail = 'queued' | 'not_configured' | 'limited'

const MAX_INVITATIONS = 5
const INVITATIONS_MS = HOUR_MS

/** The same for invitations, of which an address gets a few an hour. */
export function queueInvitation(
  ctx: Context,
  tx: DbOrTx,
  to: Omit<NewMail, 'notice'>,
  text: MailText,
): InvitationMail {
  if (!ctx.mail.isConfigured) return 'not_configured'
  const now = ctx.now()
  const sent = countMailsTo(ctx.db, to.address, 'invitation', now - INVITATIONS_MS, now + INVITATIONS_MS)
  if (sent >= MAX_INVITATIONS) return 'limited'
  queueMail(ctx, tx, { ...to, notice: 'invitation' }, text)
  return 'queued'
}

/** The invitation of an address to a project has ended: what waits is not sent. In the caller's transaction. */
export const dropInvitation = (ctx: Context, _tx: DbOrTx, projectId: string, address: string): void =>
  void failUnsentMails(
    ctx.db,
    { sql: "notice = 'invitation' AND project_id = ? AND address = ?", values: [projectId, address] },
    'the invitation ended',
    ctx.now(),
  )
