import type { Context, SessionUser, UserActor } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { ProjectRole } from '../../domain/roles.ts'
import type { Grant } from '../auth/authorize.ts'
import { publicUser } from '../auth/credentials.ts'
import { endMembership, standingOf } from '../members/service.ts'
import { primaryUrl } from '../projects/service.ts'
import {
  countRecoveryCodes,
  deleteConnection,
  deleteSessionOf,
  findSecondStep,
  listConnections,
  listMemberSites,
  listSessions,
} from './queries.ts'

/** What the account hub shows. contract §3. */
type AccountView = {
  user: SessionUser
  mfa: { totp: boolean; recoveryCodesLeft: number }
  connections: { provider: string; email: string; connectedAt: string }[]
  sessions: { id: string; current: boolean; ip: string; userAgent: string; lastSeenAt: string }[]
}

/** A row of My Sites: `role` is the effective one, null for a member whose roles were all taken away. */
type AccountSiteView = {
  projectId: string
  owner: string
  name: string
  displayName: string
  url: string | null
  role: ProjectRole | null
  isOwner: boolean
  joinedAt: string
}

/** The person whose account it is: an account is used with a session only. */
export function personOf({ actor }: Grant): UserActor {
  if (actor.kind !== 'user') throw new AppError('forbidden', 'Sign in to manage an account')
  return actor
}

export function getAccountHub(ctx: Context, grant: Grant): AccountView {
  const { user, sessionId } = personOf(grant)
  const db = ctx.db.orm
  return {
    user: publicUser(user),
    mfa: {
      totp: (findSecondStep(db, user.id)?.totpSecret ?? null) !== null,
      recoveryCodesLeft: countRecoveryCodes(db, user.id),
    },
    connections: listConnections(db, user.id).map(({ provider, email, connectedAt }) => ({
      provider,
      email,
      connectedAt: isoTime(connectedAt),
    })),
    sessions: listSessions(db, user.id).map(({ id, ip, userAgent, lastSeenAt }) => ({
      id,
      current: id === sessionId,
      ip,
      userAgent,
      lastSeenAt: isoTime(lastSeenAt),
    })),
  }
}

/** Ends one of one's own sessions. Somebody else's is as unknown as none: 404. */
export function endOwnSession(ctx: Context, grant: Grant, sessionId: string): void {
  const actor = personOf(grant)
  inTransaction(ctx.db, (tx) => {
    if (!deleteSessionOf(tx, actor.user.id, sessionId))
      throw new AppError('not_found', 'There is no such session')
    audit(ctx, tx, actor, { action: 'session.end', target: { kind: 'session', id: sessionId } })
  })
}

/** Removes a connected sign-in method. Throws 404 for one that is not connected, 400 when nothing else signs in. */
export function removeConnection(ctx: Context, grant: Grant, provider: string): void {
  const actor = personOf(grant)
  inTransaction(ctx.db, (tx) => {
    const connections = listConnections(tx, actor.user.id)
    if (!connections.some((one) => one.provider === provider))
      throw new AppError('not_found', 'That sign-in method is not connected')
    const hasPassword = (findSecondStep(tx, actor.user.id)?.passwordHash ?? null) !== null
    if (!hasPassword && connections.length === 1)
      throw new AppError('invalid', 'This is the only way to sign in to the account: set a password first')
    deleteConnection(tx, actor.user.id, provider)
    audit(ctx, tx, actor, {
      action: 'user.disconnect',
      target: { kind: 'user', id: actor.user.id },
      before: { provider },
    })
  })
}

/** My Sites: every project that the person is a member of. */
export function listOwnSites(ctx: Context, grant: Grant): AccountSiteView[] {
  const { user } = personOf(grant)
  return listMemberSites(ctx.db.orm, user.id).map((site) => ({
    ...site,
    url: primaryUrl(ctx, site.projectId),
    role: standingOf(ctx, user.id, site.projectId).role,
    joinedAt: isoTime(site.joinedAt),
  }))
}

/** Leaves a site: membership and direct role go, roles by groups remain. Throws 400 for the owner, 404 for a stranger. */
export function leaveSite(ctx: Context, grant: Grant, projectId: string): void {
  const actor = personOf(grant)
  inTransaction(ctx.db, (tx) => {
    const before = endMembership(tx, projectId, actor.user.id)
    audit(ctx, tx, actor, {
      action: 'membership.leave',
      target: { kind: 'user', id: actor.user.id },
      projectId,
      before,
    })
  })
}
