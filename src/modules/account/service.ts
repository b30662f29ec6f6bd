import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { endMembership, listMemberSites, standingOf } from '../members/service.ts'
import { primaryUrl } from '../projects/service.ts'
import { publicUser } from '../users/accounts.ts'
import { connectionsOf } from './connections.ts'
import type { AccountSiteView, AccountView } from './model.ts'
import { secondStepOf } from './second-step.ts'
import { type OwnSession, ownSessions } from './sessions.ts'

/** The sessions include their `host`, which the page shows and the API leaves out. */
export function getAccountHub(ctx: Context, grant: Grant): AccountView & { sessions: OwnSession[] } {
  const person = personOf(grant)
  const { user } = person
  return {
    user: publicUser(user),
    mfa: secondStepOf(ctx, user.id),
    connections: connectionsOf(ctx, user.id),
    sessions: ownSessions(ctx, person),
  }
}

/** My Sites: every project that the person is a member of. */
export function listOwnSites(ctx: Context, grant: Grant): AccountSiteView[] {
  const { user } = personOf(grant)
  return listMemberSites(ctx.db.orm, user.id).map((site) => ({
    ...site,
    url: primaryUrl(ctx, site.projectId),
    role: standingOf(ctx, site.projectId, user.id).role,
    joinedAt: isoTime(site.joinedAt),
  }))
}

/** Leaves a site: ends membership and direct role, not roles by groups. Throws 400 for the owner, 404 for others. */
export function leaveSite(ctx: Context, grant: Grant, projectId: string): void {
  const actor = personOf(grant)
  inTidyingTransaction(ctx.db, (tx) => {
    const before = endMembership(tx, projectId, actor.user.id)
    audit(ctx, tx, actor, {
      action: 'membership.leave',
      target: { kind: 'user', id: actor.user.id, name: actor.user.email },
      projectId,
      before,
    })
  })
}
