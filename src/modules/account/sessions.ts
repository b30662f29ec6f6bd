import type { Context } from '../../context.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import type { UserActor } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { type Grant, personOf } from '../auth/authorize.ts'
import { endSession, findSession, listSessions } from '../auth/sessions.ts'

export type OwnSession = {
  id: string
  current: boolean
  /** `cli`: of `svc login`, with the name of the device. */
  kind: 'browser' | 'cli'
  name: string | null
  /** The one host that the session was handed over to; null if it is valid everywhere. */
  host: string | null
  ip: string
  userAgent: string
  lastSeenAt: string
}

/** Where the person is signed in, most recently used first. */
export const ownSessions = (ctx: Context, { user, sessionId }: UserActor): OwnSession[] =>
  sessionsOf(ctx, user.id).map(({ createdAt: _, lastSeenAt, ...session }) => ({
    ...session,
    current: session.id === sessionId,
    lastSeenAt: isoTime(lastSeenAt),
  }))

/** The same of anybody, with the times in milliseconds. */
export const sessionsOf = (ctx: Context, userId: string) =>
  listSessions(ctx.db.orm, userId).map(({ id, name, host, ip, userAgent, createdAt, lastSeenAt }) => ({
    id,
    kind: name === null ? ('browser' as const) : ('cli' as const),
    name,
    host,
    ip,
    userAgent,
    createdAt,
    lastSeenAt,
  }))

/** Ends one of the person's own sessions. Throws 404 for an unknown session and for somebody else's. */
export function endOwnSession(ctx: Context, grant: Grant, sessionId: string): void {
  const actor = personOf(grant)
  inTidyingTransaction(ctx.db, (tx) => {
    if (findSession(tx, sessionId)?.userId !== actor.user.id)
      throw new AppError('not_found', 'There is no such session')
    endSession(ctx, tx, actor, sessionId)
  })
}
