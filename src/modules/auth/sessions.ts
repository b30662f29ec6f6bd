import type { Context, RequestFacts } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { storeRefusal } from '../../db/shipped.ts'
import { ifRoom, inTidyingTransaction } from '../../db/tidying.ts'
import type { CliActor, SessionUser, UserActor } from '../../domain/actor.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { isRecent } from '../../domain/recent.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { publicUser } from '../users/accounts.ts'
import { deleteDevicesOf } from './device/queries.ts'
import { passesGate } from './gate.ts'
import { identifyCli } from './sessions/cli.ts'
import { sessionCookies } from './sessions/cookies.ts'
import { exchange, firstGood } from './sessions/exchange.ts'
import { addSession, type OpenedBy } from './sessions/open.ts'
import {
  deleteExpiredTokens,
  deleteSession,
  deleteSessionsOfUser,
  deleteSessionsWithoutTokens,
  type FoundToken,
  touchSession,
} from './sessions/queries.ts'
import { strayCookies } from './sessions/strays.ts'
import { issueTokens, type LiveToken, liveTokens, type Tokens } from './sessions/tokens.ts'

export { clearedCookies, cookieDomain, sessionCookies } from './sessions/cookies.ts'
export {
  deleteHandedOver,
  deleteSession,
  findSession,
  findSessionUser,
  lastSeenAtOf,
  listSessions,
} from './sessions/queries.ts'

const TOUCH_EVERY_MS = 5 * MINUTE_MS
const REMOVED_AT_ONCE = 300

/** Somebody who signed in, and the cookies that make the browser theirs. */
export type SignedIn = { user: SessionUser; sessionId: string; setCookies: string[] }

/**
 * `setCookies`: the cookies to send back. `isAllowed`: what the caller's check of the person returned. `goodUntil`:
 * until then the same cookies resolve to the same session, as long as nothing is written; 0 if they must be resolved
 * again each time.
 */
type ResolvedSession = {
  session: { id: string; user: SessionUser }
  setCookies: string[]
  isAllowed: boolean
  goodUntil: number
}

/** Opens a session in the caller's transaction and returns the tokens, which are stored only as hashes. */
export function openSession(
  ctx: Context,
  tx: DbOrTx,
  userId: string,
  from: OpenedBy,
): { id: string; tokens: Tokens } {
  const id = addSession(ctx, tx, userId, from)
  return { id, tokens: issueTokens(ctx, tx, id) }
}

/**
 * The session of a request's cookies. If the access token has expired, a good refresh token is exchanged, unless
 * `isAllowed` (the gate) refuses its owner: then the cookies stay as they are. Cookies of two different people resolve
 * to nobody, because a sibling site can add one of its own (cookie tossing).
 */
export function resolveSession(
  ctx: Context,
  cookieHeader: string | null,
  facts: RequestFacts,
  isAllowed: (userId: string) => boolean = () => true,
): ResolvedSession | undefined {
  if (cookieHeader === null) return undefined
  const access = liveTokens(ctx, cookieHeader, 'access', facts)
  const refresh = liveTokens(ctx, cookieHeader, 'refresh', facts)
  const first = access[0] ?? refresh[0]
  if (first === undefined || !areOfOne([...access, ...refresh])) return undefined
  if (!isAllowed(first.found.user.id))
    return { session: sessionOf(first.found), setCookies: [], isAllowed: false, goodUntil: 0 }
  if (first.found.kind === 'refresh')
    return storeRefusal(ctx) === null ? renew(ctx, refresh, facts) : unrenewed(ctx, refresh)
  touch(ctx, first.found, facts)
  const ends = [...access, ...refresh].map(({ found }) => found.expiresAt)
  const goodUntil = Math.min(first.found.lastSeenAt + TOUCH_EVERY_MS, ...ends)
  return { session: sessionOf(first.found), setCookies: [], isAllowed: true, goodUntil }
}

/**
 * The session of the cookies as it stands: it is neither renewed nor noted to be in use. Undefined where there is none, and
 * where one is to be renewed.
 */
export function standingSession(
  ctx: Context,
  cookieHeader: string | null,
  facts: RequestFacts,
  isAllowed: (userId: string) => boolean,
): ResolvedSession | undefined {
  const access = liveTokens(ctx, cookieHeader, 'access', facts)
  const tokens = [...access, ...liveTokens(ctx, cookieHeader, 'refresh', facts)]
  const [first] = access
  if (first === undefined || !areOfOne(tokens)) return undefined
  const session = sessionOf(first.found)
  if (!isAllowed(first.found.user.id)) return { session, setCookies: [], isAllowed: false, goodUntil: 0 }
  const goodUntil = Math.min(...tokens.map(({ found }) => found.expiresAt))
  return { session, setCookies: [], isAllowed: true, goodUntil }
}

/**
 * The cookies to send to a browser that has cookies of two different people, so that its next request has a session
 * again. Without this a sibling site could lock a person out for good.
 */
export function healedCookies(
  ctx: Context,
  cookieHeader: string | null,
  path: string,
  facts: RequestFacts,
): string[] {
  if (cookieHeader === null) return []
  const tokens = [
    ...liveTokens(ctx, cookieHeader, 'access', facts),
    ...liveTokens(ctx, cookieHeader, 'refresh', facts),
  ]
  return areOfOne(tokens) ? [] : strayCookies(ctx, path, facts)
}

/** New tokens for a good refresh token. Throws 401 without one, or if a gate refuses the person (cookies stay). */
export function refreshSession(ctx: Context, cookieHeader: string | null, facts: RequestFacts): SignedIn {
  const refresh = liveTokens(ctx, cookieHeader, 'refresh', facts)
  const first = refresh[0]
  const isGood = first !== undefined && areOfOne(refresh) && passesGate(ctx, facts.site, first.found.user.id)
  const renewed = isGood ? renew(ctx, refresh, facts) : undefined
  if (renewed === undefined) throw new AppError('unauthenticated', 'The session has ended: sign in again')
  const { session, setCookies } = renewed
  return { user: publicUser(session.user), sessionId: session.id, setCookies }
}

/** Ends the session of the cookies on every host, gate or not. Throws 401 without one. */
export function signOut(ctx: Context, cookieHeader: string | null, facts: RequestFacts): void {
  const found = resolveSession(ctx, cookieHeader, facts)
  if (found === undefined) throw new AppError('unauthenticated', 'Nobody is signed in')
  const { id, user } = found.session
  const actor: UserActor = { kind: 'user', user, sessionId: id, ip: facts.ip }
  inTidyingTransaction(ctx.db, (tx) => endSession(ctx, tx, actor, id))
}

/** Ends the session of a token of `svc login`. Throws 401 for one that has ended. */
export function signOutCli(ctx: Context, token: string, facts: RequestFacts): void {
  const found = identifyCli(ctx, token, facts)
  if (found === undefined) throw cliEnded()
  const actor = { kind: 'cli', ...found, ip: facts.ip } as const
  inTidyingTransaction(ctx.db, (tx) => endSession(ctx, tx, actor, found.sessionId))
}

export const cliEnded = (): AppError =>
  new AppError('unauthenticated', 'This login of the command line has ended: run svc login again')

/** Ends one of the actor's sessions and those handed over from it, in the caller's transaction. */
export function endSession(ctx: Context, tx: DbOrTx, actor: UserActor | CliActor, sessionId: string): void {
  deleteSession(tx, sessionId)
  audit(ctx, tx, actor, { action: 'session.end', target: { kind: 'session', id: sessionId, name: null } })
}

/**
 * Ends every session of the user except `keep`, and what they let in but no device has fetched, in the caller's transaction.
 * Returns how many sessions ended.
 */
export function endSessionsOf(tx: DbOrTx, userId: string, keep: string | null = null): number {
  const ended = deleteSessionsOfUser(tx, userId, keep)
  deleteDevicesOf(tx, userId)
  return ended
}

/** Removes expired tokens, and sessions that have none left. */
export function removeExpiredSessions(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  return inSteps(stop, () =>
    inRelaxedTransaction(ctx.db, () => {
      const ofTokens = deleteExpiredTokens(ctx.db, ctx.now(), REMOVED_AT_ONCE)
      deleteSessionsWithoutTokens(ctx.db, ofTokens)
      return ofTokens.length === REMOVED_AT_ONCE
    }),
  )
}

const areOfOne = (tokens: readonly LiveToken[]): boolean =>
  tokens.every(({ found }) => found.user.id === tokens[0]?.found.user.id)

function renew(
  ctx: Context,
  refresh: readonly LiveToken[],
  facts: RequestFacts,
): ResolvedSession | undefined {
  const renewed = exchange(ctx, refresh, facts)
  if (renewed === undefined) return undefined
  const setCookies = sessionCookies(ctx, renewed.tokens, facts)
  return { session: sessionOf(renewed.found), setCookies, isAllowed: true, goodUntil: 0 }
}

/** While nothing can be written the session goes on as it is. contract 18 §4. */
function unrenewed(ctx: Context, refresh: readonly LiveToken[]): ResolvedSession | undefined {
  const good = firstGood(ctx, refresh)
  if (good === undefined) return undefined
  return { session: sessionOf(good.found), setCookies: [], isAllowed: true, goodUntil: 0 }
}

/** Records now and then that the session is in use, and from where. */
function touch(ctx: Context, found: FoundToken, { ip }: RequestFacts): void {
  if (isRecent(found.lastSeenAt, ctx.now(), TOUCH_EVERY_MS)) return
  found.lastSeenAt = ctx.now()
  ifRoom(ctx.db, () =>
    inRelaxedTransaction(ctx.db, (tx) => touchSession(tx, found.sessionId, { lastSeenAt: ctx.now(), ip })),
  )
}

const sessionOf = ({ sessionId, user }: FoundToken): ResolvedSession['session'] => ({ id: sessionId, user })
