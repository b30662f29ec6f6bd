import type { Actor, Context, SessionUser, UserActor } from '../../context.ts'
import { actorRef, audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { WEEK_MS } from '../../domain/durations.ts'
import { normalizeEmail } from '../../domain/email.ts'
import { AppError, invalidChoice } from '../../domain/errors.ts'
import { isoTime, isoTimeOrNull } from '../../domain/iso-time.ts'
import { isAhead } from '../../domain/recent.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { admit, isOwner } from '../members/service.ts'
import { findProjectById, projectOf } from '../projects/service.ts'
import { findAccount } from '../users/accounts.ts'
import type { InvitationOffer, InvitationView } from './model.ts'
import {
  deleteInvitationRow,
  deleteOpenInvitation,
  findInvitation,
  findInvitationByHash,
  type Invitation,
  insertInvitation,
  listInvitationRows,
  markInvitationAccepted,
} from './queries.ts'

export type { InvitationView } from './model.ts'

const LIFE_MS = WEEK_MS

/** Newest first, accepted and expired ones too. */
export function listInvitations(ctx: Context, grant: Grant): InvitationView[] {
  return listInvitationRows(ctx.db.orm, projectOf(ctx, grant).id).map((row) => toView(ctx, row))
}

/**
 * Invites an email. An account of that email is a member with the role at once, keeping a higher direct role if it has
 * one (`role` of the answer says which). Otherwise the answer holds the link, shown only here; an older one ends. Throws
 * 400 for the role `owner` and for the owner's email.
 */
export function invite(
  ctx: Context,
  grant: Grant,
  input: { email: string; role: ProjectRole },
): InvitationView & { url?: string } {
  const email = normalizeEmail(input.email)
  const { role } = input
  if (role === 'owner')
    throw invalidChoice('role', 'Nobody is invited as owner: transfer the ownership instead')
  return inTransaction(ctx.db, (tx) => {
    const { id: projectId } = projectOf(ctx, grant, tx)
    const base = {
      id: ctx.newId(),
      projectId,
      email,
      role,
      createdBy: actorRef(grant.actor),
      createdAt: ctx.now(),
    }
    deleteOpenInvitation(tx, projectId, email)
    const account = findAccount(tx, { email })
    if (account !== undefined) return admitAccount(ctx, tx, grant, base, account)
    const token = newToken()
    const row = { ...base, tokenHash: hashToken(token), expiresAt: ctx.now() + LIFE_MS, acceptedAt: null }
    insertInvitation(tx, row)
    record(ctx, tx, grant.actor, 'invitation.create', row, { role })
    return { ...toView(ctx, row), url: `${ctx.adminUrl()}/invite?token=${token}` }
  })
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

/** Takes an invitation back: its link ends. One that was accepted leaves the list, and the member stays. Throws 404. */
export function revokeInvitation(ctx: Context, grant: Grant, id: string): void {
  inTransaction(ctx.db, (tx) => {
    const found = findInvitation(tx, projectOf(ctx, grant, tx).id, id)
    if (found === undefined) throw new AppError('not_found', 'The project has no such invitation')
    deleteInvitationRow(tx, id)
    record(ctx, tx, grant.actor, 'invitation.revoke', found)
  })
}

/** The invitation of a link that is still good; undefined when it is used, expired or unknown. */
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
    if (found.email !== actor.user.email)
      throw new AppError('forbidden', 'This invitation is for another email: sign in with that one')
    return { ...offerOf(ctx, found), role: redeemInvitation(ctx, tx, actor, found) }
  })
}

/** Uses an open invitation up for the person who was invited, in the caller's transaction. Returns the direct role held. */
export function redeemInvitation(
  ctx: Context,
  tx: DbOrTx,
  actor: UserActor,
  invitation: Invitation,
): ProjectRole {
  const userId = actor.user.id
  const held = admit(ctx, tx, invitation.projectId, userId, invitation.role)
  markInvitationAccepted(tx, invitation.id, ctx.now())
  record(ctx, tx, actor, 'invitation.accept', invitation, { userId, role: held })
  return held
}

function record(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  action: string,
  { id, projectId, email }: Invitation,
  after?: { userId?: string; role: ProjectRole },
): void {
  const details = after === undefined ? { before: { email } } : { after: { email, ...after } }
  audit(ctx, tx, actor, { action, target: { kind: 'invitation', id }, projectId, ...details })
}

const unknownInvitation = () =>
  new AppError('not_found', 'This invitation was used, has expired or never was: ask for a new one')

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
