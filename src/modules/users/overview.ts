import type { Context } from '../../context.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { resetSecondStep, secondStepOf } from '../account/second-step.ts'
import { sessionsOf } from '../account/sessions.ts'
import { keysOfMaker } from '../api-keys/service.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { listGroupsOf } from '../groups/service.ts'
import { reachOf } from '../members/reach.ts'
import { getUserRow } from './accounts.ts'
import type { UserOverview } from './model.ts'
import { refuseOneself } from './oneself.ts'
import { userView } from './view.ts'

export type { UserOverview } from './model.ts'

/** Everything about a person on one page: what they see and why, and where they are signed in. contract 17.6. */
export function getUserOverview(ctx: Context, grant: Grant, id: string): UserOverview {
  const user = getUserRow(ctx.db.orm, { userId: id })
  return {
    user: userView(ctx.db.orm, user),
    suspendedReason: user.suspendedReason,
    sessions: sessionsOf(ctx, id).map(({ createdAt, lastSeenAt, host: _, ...session }) => ({
      ...session,
      createdAt: isoTime(createdAt),
      lastSeenAt: isoTime(lastSeenAt),
    })),
    secondStep: { ...secondStepOf(ctx, id), passkeys: 0 },
    groups: listGroupsOf(ctx.db.orm, id),
    keys: keysOfMaker(ctx, grant, id).map(({ id: keyId, name, prefix, lastUsedAt }) => ({
      id: keyId,
      name,
      prefix,
      lastUsedAt,
    })),
    projects: reachOf(ctx, user),
  }
}

/** For somebody who lost it: it goes, and their sessions end. Throws 409 `NO_SECOND_STEP`, 400 for oneself. */
export function resetSecondStepOf(ctx: Context, grant: Grant, id: string): UserOverview {
  authorizeAgain(ctx, grant, 'workspace:administer')
  refuseOneself(grant, id, 'reset your own second step')
  resetSecondStep(ctx, { userId: id }, grant.actor)
  return getUserOverview(ctx, grant, id)
}
