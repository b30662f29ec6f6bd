import type { Caller, Context, RequestFacts } from '../../context.ts'
import { currentGeneration } from '../../db/generation.ts'
import type { Actor, SessionUser } from '../../domain/actor.ts'
import { AppError } from '../../domain/errors.ts'
import { CLI_PREFIX, sentKey } from '../../domain/key-header.ts'
import { isPartOfAnother } from '../../http/part-of-another.ts'
import { requestState } from '../../http/request-facts.ts'
import { identifyKey, refusalNow } from '../api-keys/identify.ts'
import { API_KEY_SUSPENDED } from '../api-keys/suspended.ts'
import { accessRefusal } from './access-refusal.ts'
import { passesGate } from './gate.ts'
import { sentDevices } from './known-devices.ts'
import { identifyCli } from './sessions/cli.ts'
import { cliEnded, findSessionUser, healedCookies, resolveSession } from './sessions.ts'

/** Where a sign-in comes from. `devices`: the cookies of a browser that was used before. */
export type Origin = { facts: RequestFacts; userAgent: string; devices: readonly string[] }

export const originOf = (request: Request): Origin => ({
  facts: requestState(request).facts,
  userAgent: request.headers.get('user-agent') ?? '',
  devices: sentDevices(request.headers.get('cookie')),
})

/**
 * The caller of a request. An API key wins over a session. The API refuses a key that is not good (`onBadKey: 'refuse'`);
 * content treats it as anonymous. A stale session is anonymous. contract §2. The caller is resolved once per request,
 * and again when something was written since: reading the body can take long, and the request must end with current
 * rights.
 */
export function callerOf(ctx: Context, request: Request, onBadKey: 'refuse' | 'ignore' = 'refuse'): Caller {
  const refusal = accessRefusal(ctx)
  if (refusal !== null) throw refusal
  const state = requestState(request)
  const { caller } = state
  const isFresh = state.callerAsOf === currentGeneration(ctx.db).access
  const found = caller === undefined ? findCaller(ctx, request) : isFresh ? caller : asOfNow(ctx, caller)
  if (found !== caller || !isFresh) {
    state.caller = found
    state.callerAsOf = currentGeneration(ctx.db).access
  }
  if (found.badKey !== undefined && onBadKey === 'refuse') throw found.badKey
  return found
}

/** The caller with their current role; anonymous if the session or key has ended, or the gate refuses them. */
export function asOfNow(ctx: Context, caller: Caller): Caller {
  const { actor, site } = caller
  if (actor.kind === 'anonymous' || actor.kind === 'operator') return caller
  const nobody: Caller = { actor: { kind: 'anonymous', ip: actor.ip }, site, refused: null }
  if (actor.kind === 'key') {
    const badKey = refusalNow(ctx, actor.key.id)
    return badKey === undefined ? caller : { ...nobody, badKey }
  }
  const user = findSessionUser(ctx.db, actor.sessionId)
  if (user === undefined) return actor.kind === 'cli' ? { ...nobody, badKey: cliEnded() } : nobody
  return passesGate(ctx, site, user.id)
    ? { ...caller, actor: { ...actor, user } }
    : { ...nobody, refused: user }
}

/** Says so if the key was suspended while the request was under way. Any other key that has ended is like none. */
export function refuseSuspended({ badKey }: Caller): void {
  if (badKey?.code === API_KEY_SUSPENDED) throw badKey
}

function findCaller(ctx: Context, request: Request): Caller {
  const { arrival, facts, setCookies } = requestState(request)
  const caller = (actor: Actor, refused: SessionUser | null = null): Caller => ({
    actor,
    site: facts.site,
    refused,
  })
  const sent = sentKey(request.headers)
  if (sent?.startsWith(CLI_PREFIX)) return callerOfCli(ctx, sent, facts)
  if (sent !== null) {
    const key = identifyKey(ctx, sent)
    return key instanceof AppError
      ? { ...caller({ kind: 'anonymous', ip: facts.ip }), badKey: key }
      : caller({ kind: 'key', key, ip: facts.ip })
  }
  // A page that embeds this one could otherwise find out what the visitor may see, by whether it loads.
  const cookies = isPartOfAnother(request) ? null : request.headers.get('cookie')
  const found = resolveSession(ctx, cookies, facts, (userId) => passesGate(ctx, facts.site, userId))
  if (found === undefined) {
    setCookies.push(...healedCookies(ctx, cookies, arrival.path, facts))
    return caller({ kind: 'anonymous', ip: facts.ip })
  }
  const { id, user } = found.session
  if (!found.isAllowed) return caller({ kind: 'anonymous', ip: facts.ip }, user)
  setCookies.push(...found.setCookies)
  return { ...caller({ kind: 'user', user, sessionId: id, ip: facts.ip }), goodUntil: found.goodUntil }
}

/** The membership gate is for persons, however they come. */
function callerOfCli(ctx: Context, token: string, facts: RequestFacts): Caller {
  const { ip, site } = facts
  const nobody: Caller = { actor: { kind: 'anonymous', ip }, site, refused: null }
  const found = identifyCli(ctx, token, facts)
  if (found === undefined) return { ...nobody, badKey: cliEnded() }
  return passesGate(ctx, site, found.user.id)
    ? { ...nobody, actor: { kind: 'cli', ...found, ip } }
    : { ...nobody, refused: found.user }
}
