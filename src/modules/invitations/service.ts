import type { Context } from '../../context.ts'
import { actorFacts, actorRef, audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { Actor, SessionUser, UserActor } from '../../domain/actor.ts'
import { DAY_MS, WEEK_MS } from '../../domain/durations.ts'
import { AppError, invalidChoice } from '../../domain/errors.ts'
import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import { type Paginated, paginated } from '../../domain/pagination.ts'
import { isAhead } from '../../domain/recent.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { admit, isOwner } from '../members/service.ts'
import { dropInvitation, type InvitationMail, queueInvitation } from '../notices/outbox.ts'
import { projectInvitation } from '../notices/texts.ts'
import { findProjectById, projectOf } from '../projects/service.ts'
import { addresseeOf } from '../users/accounts.ts'
import { tellHooks } from '../webhooks/outbox.ts'
import type { InvitationOffer, InvitationView } from './model.ts'
import {
  deleteInvitationRow,
  deleteInvitationsExpiredBefore,
  deleteOpenInvitation,
  findInvitation,
  findInvitationByHash,
  type Invitation,
  insertInvitation,
  listInvitationRows,
  markInvitationAccepted,
  selectInvitations,
} from './queries.ts'

export type { InvitationView } from './model.ts'

const LIFE_MS = WEEK_MS
/** How long an invitation that nobody accepted is listed after it expired. */
const LISTED_MS = 30 * DAY_MS
const REMOVED_AT_ONCE = 500

/** Newest first, including accepted ones, and expired ones of the last 30 days. */
export function listInvitations(ctx: Context, grant: Grant): InvitationView[] {
  return listInvitationRows(ctx.db.orm, projectOf(ctx, grant).id).map((row) => toView(ctx, row))
}

/** The same in pages: a project may have very many. */
export function listInvitationPage(
  ctx: Context,
  grant: Grant,
  { page, limit }: { page: number; limit: number },
): Paginated<InvitationView> {
  const at = { limit, offset: (page - 1) * limit }
  const { rows, total } = selectInvitations(ctx.db.orm, projectOf(ctx, grant).id, at)
  return paginated(
    rows.map((row) => toView(ctx, row)),
    total,
    { page, limit },
  )
}

/**
 * Invites an email. If it has an account, that becomes a member with the role at once, or keeps a higher direct role
 * (`role` of the result is the final one). Otherwise the result contains the link, shown only here; an older link ends.
 * Throws 400 for the role `owner` and for the owner's email.
 */
export function invite(
  ctx: Context,
  grant: Grant,
  input: { email: string; role: ProjectRole },
): InvitationView & { url?: string; mail?: InvitationMail } {
  const { role } = input
  if (role === 'owner')
    throw invalidChoice('role', 'Nobody can be invited as owner: transfer the ownership instead')
  return inTransaction(ctx.db, (tx) => {
    const project = projectOf(ctx, grant, tx)
    const projectId = project.id
    const { email, user: account } = addresseeOf(tx, input.email)
    const base = {
      id: ctx.newId(),
      projectId,
      email,
      role,
      createdBy: actorRef(grant.actor),
      createdAt: ctx.now(),
    }
    deleteOpenInvitation(tx, projectId, email)
    dropInvitation(ctx, tx, projectId, email)
    const data = () => ({ email, role })
    tellHooks(ctx, tx, { event: 'user.invited', actor: grant.actor, projectId, data })
    if (account !== undefined) return admitAccount(ctx, tx, grant, base, account)
    const token = newToken()
    const row = { ...base, tokenHash: hashToken(token), expiresAt: ctx.now() + LIFE_MS, acceptedAt: null }
    insertInvitation(tx, row)
    record(ctx, tx, grant.actor, 'invitation.create', row, { role })
    const url = `${ctx.adminUrl()}/invite?token=${token}`
    return { ...toView(ctx, row), url, mail: mailInvitation(ctx, tx, grant.actor, { row, project, url }) }
  })
}

function mailInvitation(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { row, project, url }: { row: Invitation; project: { owner: string; name: string }; url: string },
): InvitationMail {
  const { email, role, projectId } = row
  const text = projectInvitation(
    { by: actorFacts(actor).name, project, role },
    { url, until: isoTime(ctx.now() + LIFE_MS) },
  )
  return queueInvitation(ctx, tx, { address: email, userId: null, projectId }, text)
}

function admitAccount(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  base: Omit<Invitation, 'tokenHash' | 'expiresAt' | 'acceptedAt'>,
  account: SessionUser,
): InvitationView {
  if (isOwner(tx, base.projectId, account.id))
    throw new AppError('invalid', `${account.email} owns the project and needs no invitation`)
  const held = admit(ctx, tx, base.projectId, account.id, base.role)
  const row: Invitation = { ...base, tokenHash: null, expiresAt: null, acceptedAt: ctx.now() }
  insertInvitation(tx, row)
  record(ctx, tx, grant.actor, 'invitation.create', row, { userId: account.id, role: held })
  return { ...toView(ctx, row), role: held }
}

/** Revokes an invitation: its link ends. An accepted one is only unlisted; the member stays. Throws 404. */
export function revokeInvitation(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const found = findInvitation(tx, projectOf(ctx, grant, tx).id, id)
    if (found === undefined) throw new AppError('not_found', 'The project has no such invitation')
    withdraw(ctx, tx, grant.actor, found)
  })
}

/** The same in the caller's transaction. */
export function withdraw(ctx: Context, tx: DbOrTx, actor: Actor, found: Invitation): void {
  deleteInvitationRow(tx, found.id)
  dropInvitation(ctx, tx, found.projectId, found.email)
  record(ctx, tx, actor, 'invitation.revoke', found, undefined, found)
}

/** The invitation of a valid link; undefined if it is used, expired or unknown. */
export function findOpenInvitation(
  ctx: Context,
  token: string,
  db: DbOrTx = ctx.db.orm,
): Invitation | undefined {
  const found = findInvitationByHash(db, hashToken(token))
  return found !== undefined && isOpen(ctx, found) ? found : undefined
}

/** Throws 404 when the link is used, expired or unknown. */
export function getInvitation(ctx: Context, token: string): InvitationOffer {
  const found = findOpenInvitation(ctx, token)
  if (found === undefined) throw unknownInvitation()
  return offerOf(ctx, found)
}

/** Accepts as the signed-in person. Throws 404 as above, 403 when somebody else was invited. */
export function acceptInvitation(ctx: Context, grant: Grant, token: string): InvitationOffer {
  const actor = personOf(grant)
  return inTransaction(ctx.db, (tx) => {
    const found = findOpenInvitation(ctx, token, tx)
    if (found === undefined) throw unknownInvitation()
    if (addresseeOf(tx, found.email).email !== actor.user.email)
      throw new AppError('forbidden', 'This invitation is for another email: sign in with that one')
    return { ...offerOf(ctx, found), role: redeemInvitation(ctx, tx, actor, found) }
  })
}

/** Uses up an open invitation for the invited person, in the caller's transaction. Returns the person's direct role. */
export function redeemInvitation(
  ctx: Context,
  tx: DbOrTx,
  actor: UserActor,
  invitation: Invitation,
): ProjectRole {
  const userId = actor.user.id
  const held = admit(ctx, tx, invitation.projectId, userId, invitation.role)
  markInvitationAccepted(tx, invitation.id, ctx.now())
  dropInvitation(ctx, tx, invitation.projectId, invitation.email)
  record(ctx, tx, actor, 'invitation.accept', invitation, { userId, role: held })
  return held
}

/** Removes those that expired 30 days ago. Their links get the same answers as unknown ones anyway. */
export function removeExpiredInvitations(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const before = ctx.now() - LISTED_MS
  const remove = () => deleteInvitationsExpiredBefore(ctx.db, before, REMOVED_AT_ONCE)
  return inSteps(stop, () => inRelaxedTransaction(ctx.db, remove) === REMOVED_AT_ONCE)
}

export function record(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  action: string,
  { id, projectId, email }: Invitation,
  after?: { userId?: string; role: ProjectRole },
  undo?: Invitation,
): void {
  const details = after === undefined ? { before: { email } } : { after: { email, ...after } }
  audit(ctx, tx, actor, {
    action,
    target: { kind: 'invitation', id, name: email },
    projectId,
    ...details,
    undo,
  })
}

const unknownInvitation = () =>
  new AppError('not_found', 'This invitation has been used, has expired or never existed: ask for a new one')

function offerOf(ctx: Context, { email, role, projectId }: Invitation): InvitationOffer {
  const project = findProjectById(ctx, projectId)
  if (project === undefined) throw unknownInvitation()
  const { id, owner, name, displayName } = project
  return { email, role, project: { id, owner, name, displayName } }
}

const toView = (ctx: Context, row: Invitation): InvitationView => ({
  id: row.id,
  email: row.email,
  role: row.role,
  status: statusOf(ctx, row),
  createdAt: isoTime(row.createdAt),
  expiresAt: isoTimeOrNull(row.expiresAt),
})

function statusOf(ctx: Context, invitation: Invitation): InvitationView['status'] {
  if (invitation.acceptedAt !== null) return 'accepted'
  return isOpen(ctx, invitation) ? 'pending' : 'expired'
}

const isOpen = (ctx: Context, { createdAt, expiresAt }: Invitation): boolean =>
  expiresAt !== null && expiresAt > ctx.now() && !isAhead(createdAt, ctx.now())
