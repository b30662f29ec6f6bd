import type { Caller, Context } from '../../context.ts'
import { hasSessionCookie } from '../../domain/cookies.ts'
import { sentKey } from '../../domain/key-header.ts'
import { notPrimary } from '../../domain/store-errors.ts'
import { isPartOfAnother } from '../../http/part-of-another.ts'
import { requestState } from '../../http/request-facts.ts'
import { passesGate } from './gate.ts'
import { standingSession } from './sessions.ts'

/**
 * The caller by a copy of the database, which is written nowhere: nobody, or the person of a session that is valid as it
 * stands. Throws `NOT_PRIMARY` for everybody else: whose session is to be renewed, is not here yet or is of two people, and who
 * sent a key, whose use is noted. contract 18 §6.
 */
export function standingCaller(ctx: Context, request: Request): Caller {
  if (sentKey(request.headers) !== null) throw notPrimary()
  const { facts } = requestState(request)
  const nobody: Caller = { actor: { kind: 'anonymous', ip: facts.ip }, site: facts.site, refused: null }
  const cookies = isPartOfAnother(request) ? null : request.headers.get('cookie')
  if (!hasSessionCookie(cookies)) return nobody
  const found = standingSession(ctx, cookies, facts, (userId) => passesGate(ctx, facts.site, userId))
  if (found === undefined) throw notPrimary()
  const { id, user } = found.session
  if (!found.isAllowed) return { ...nobody, refused: user }
  const actor = { kind: 'user', user, sessionId: id, ip: facts.ip } as const
  return { ...nobody, actor, goodUntil: found.goodUntil }
}
