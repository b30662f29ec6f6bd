import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import type { Grant } from '../auth/authorize.ts'
import { deleteSession, endSessionsOf, findSession } from '../auth/sessions.ts'
import { getUserRow } from './accounts.ts'

/** Where somebody is signed in, for administrators. contract 17.6. */

/** Ends one of the user's sessions. Throws 404 for an unknown one and for another's. */
export function endUserSession(ctx: Context, grant: Grant, userId: string, sessionId: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const { email } = getUserRow(tx, { userId })
    if (findSession(tx, sessionId)?.userId !== userId)
      throw new AppError('not_found', 'There is no such session')
    deleteSession(tx, sessionId)
    const target = { kind: 'session', id: sessionId, name: email }
    audit(ctx, tx, grant.actor, { action: 'session.end', target })
  })
}

/** Ends all of them, and what waits to become one. */
export function endUserSessions(ctx: Context, grant: Grant, userId: string): { ended: number } {
  return inTidyingTransaction(ctx.db, (tx) => {
    const { id, email } = getUserRow(tx, { userId })
    const ended = endSessionsOf(tx, id)
    const target = { kind: 'user', id, name: email }
    audit(ctx, tx, grant.actor, { action: 'user.end-sessions', target, after: { ended } })
    return { ended }
  })
}
