import type { Context, RequestFacts, SessionUser } from '../../context.ts'
import { generationCache } from '../../db/generation.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { ACCESS_COOKIE, cookieValues, REFRESH_COOKIE, setCookie } from '../../domain/cookies.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import {
  deleteExpiredTokens,
  deleteSession,
  deleteSessionsOfUser,
  deleteSessionsWithoutTokens,
  type FoundToken,
  findToken,
  insertSession,
  insertToken,
  markTokenReplaced,
  touchSession,
} from './queries.ts'

/** contract §3: access 1 hour, refresh 30 days, an old refresh token is forgiven for a minute. */
const ACCESS_MS = HOUR_MS
const REFRESH_MS = 30 * DAY_MS
const REUSE_GRACE_MS = MINUTE_MS
const TOUCH_EVERY_MS = 5 * MINUTE_MS

type Session = { id: string; user: SessionUser }
type Tokens = { access: string; refresh: string }

/**
 * `setCookies`: what to send back. `isAllowed`: what the caller's own question about the person answered. `goodUntil`: the
 * same cookies stand for the same until then, as long as nothing is written; 0 where they have to be looked at again.
 */
type ResolvedSession = {
  session: Session
  setCookies: string[]
  isAllowed: boolean
  goodUntil: number
}

const tokenCache = generationCache<FoundToken>('access')

/**
 * Opens a session in the caller's transaction and returns the tokens, which exist nowhere else in the clear. `onlyOn`: the
 * one host where it counts; left out, it counts wherever its cookies reach. `openedFrom`: the session that it ends with.
 */
export function openSession(
  ctx: Context,
  tx: DbOrTx,
  userId: string,
  from: { ip: string; userAgent: string; onlyOn?: string; openedFrom?: string },
): { id: string; tokens: Tokens } {
  const id = ctx.newId()
  const now = ctx.now()
  insertSession(tx, {
    id,
    userId,
    ip: from.ip,
    userAgent: from.userAgent.slice(0, 300),
    host: from.onlyOn ?? null,
    createdAt: now,
    lastSeenAt: now,
    openedFrom: from.openedFrom ?? null,
  })
  return { id, tokens: issueTokens(ctx, tx, id) }
}

function issueTokens(ctx: Context, tx: DbOrTx, sessionId: string): Tokens {
  const now = ctx.now()
  const tokens = { access: newToken(), refresh: newToken() }
  const row = (token: string, kind: 'access' | 'refresh', lifeMs: number) =>
    insertToken(tx, {
      tokenHash: hashToken(token),
      sessionId,
      kind,
      expiresAt: now + lifeMs,
      replacedAt: null,
    })
  row(tokens.access, 'access', ACCESS_MS)
  row(tokens.refresh, 'refresh', REFRESH_MS)
  return tokens
}

/**
 * The session that a request's cookies stand for. With an expired access token a good refresh token is exchanged, unless
 * `isAllowed` (the gate) refuses its owner: then the cookies stay as they are. Cookies of two different people stand for
 * nobody, because a sibling site can add one of its own (cookie tossing).
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
  if (first === undefined) return undefined
  if ([...access, ...refresh].some(({ found }) => found.user.id !== first.found.user.id)) return undefined
  if (!isAllowed(first.found.user.id))
    return { session: sessionOf(first.found), setCookies: [], isAllowed: false, goodUntil: 0 }
  if (first.found.kind === 'refresh') return exchange(ctx, refresh, facts)
  touch(ctx, first.found, facts)
  const ends = [...access, ...refresh].map(({ found }) => found.expiresAt)
  const goodUntil = Math.min(first.found.lastSeenAt + TOUCH_EVERY_MS, ...ends)
  return { session: sessionOf(first.found), setCookies: [], isAllowed: true, goodUntil }
}

/** New tokens for the refresh token of the cookies; undefined where there is none that is good, or two of different people. */
export function rotateCookies(
  ctx: Context,
  cookieHeader: string | null,
  facts: RequestFacts,
  isAllowed: (userId: string) => boolean,
): ResolvedSession | undefined {
  const refresh = liveTokens(ctx, cookieHeader, 'refresh', facts)
  const id = refresh[0]?.found.user.id
  if (id === undefined || refresh.some(({ found }) => found.user.id !== id) || !isAllowed(id))
    return undefined
  return exchange(ctx, refresh, facts)
}

type LiveToken = { hash: string; found: FoundToken }

/** The tokens of that kind which are known, not expired and good on this host. */
function liveTokens(
  ctx: Context,
  cookieHeader: string | null,
  kind: 'access' | 'refresh',
  { host }: RequestFacts,
): LiveToken[] {
  const values = cookieValues(cookieHeader, kind === 'access' ? ACCESS_COOKIE : REFRESH_COOKIE)
  return values.flatMap((token) => {
    const hash = hashToken(token)
    const found = tokenCache.get(ctx.db, hash, () => findToken(ctx.db, hash))
    if (found === undefined || found.kind !== kind || found.expiresAt <= ctx.now()) return []
    return found.host === null || found.host === host ? [{ hash, found }] : []
  })
}

/**
 * Exchanges a refresh token for new tokens. A replaced one used again within a minute is a parallel request; later,
 * somebody has a copy: the session and all its tokens end.
 */
function exchange(
  ctx: Context,
  refresh: readonly LiveToken[],
  facts: RequestFacts,
): ResolvedSession | undefined {
  const isStale = ({ replacedAt }: FoundToken) =>
    replacedAt !== null && ctx.now() - replacedAt > REUSE_GRACE_MS
  const hash = (refresh.find(({ found }) => !isStale(found)) ?? refresh[0])?.hash
  if (hash === undefined) return undefined
  return inTransaction(ctx.db, (tx) => {
    // Looked up again: what was cached does not know of an exchange a moment ago.
    const found = findToken(ctx.db, hash)
    if (found === undefined) return undefined
    if (isStale(found)) {
      endStolen(ctx, tx, found)
      return undefined
    }
    if (found.replacedAt === null) markTokenReplaced(tx, hash, ctx.now())
    touchSession(tx, found.sessionId, { lastSeenAt: ctx.now(), ip: facts.ip })
    const tokens = issueTokens(ctx, tx, found.sessionId)
    const setCookies = sessionCookies(ctx, tokens, facts)
    return { session: sessionOf(found), setCookies, isAllowed: true, goodUntil: 0 }
  })
}

function endStolen(ctx: Context, tx: DbOrTx, found: FoundToken): void {
  deleteSession(tx, found.sessionId)
  ctx.log.warn('a replaced refresh token was used again: session ended', {
    session: found.sessionId,
    user: found.user.id,
  })
}

/** Notes now and then that the session is in use, and from where. */
function touch(ctx: Context, found: FoundToken, { ip }: RequestFacts): void {
  if (ctx.now() - found.lastSeenAt <= TOUCH_EVERY_MS) return
  found.lastSeenAt = ctx.now()
  inTransaction(ctx.db, (tx) => touchSession(tx, found.sessionId, { lastSeenAt: ctx.now(), ip }))
}

const sessionOf = ({ sessionId, user }: FoundToken): Session => ({ id: sessionId, user })

export function sessionCookies(ctx: Context, tokens: Tokens, facts: RequestFacts): string[] {
  const options = { domain: cookieDomain(ctx, facts.host), isSecure: facts.isSecure }
  return [
    setCookie(ACCESS_COOKIE, tokens.access, { ...options, maxAgeSeconds: ACCESS_MS / 1000 }),
    setCookie(REFRESH_COOKIE, tokens.refresh, { ...options, maxAgeSeconds: REFRESH_MS / 1000 }),
  ]
}

/** Removes the cookies with and without the workspace domain: either may have been set here. */
export function clearedCookies(ctx: Context, facts: RequestFacts): string[] {
  const domains = [...new Set([null, cookieDomain(ctx, facts.host)])]
  return domains.flatMap((domain) =>
    [ACCESS_COOKIE, REFRESH_COOKIE].map((name) =>
      setCookie(name, '', { domain, maxAgeSeconds: 0, isSecure: facts.isSecure }),
    ),
  )
}

/** The workspace's parent domain where the host lies below it; null (host-only) elsewhere and with plain `localhost`. */
function cookieDomain(ctx: Context, host: string): string | null {
  const base = ctx.config.baseDomain
  const isBelow = host === base || host.endsWith(`.${base}`)
  return base.includes('.') && isBelow ? `.${base}` : null
}

/** Ends every session of the user, in the caller's transaction. */
export function endSessionsOf(tx: DbOrTx, userId: string): void {
  deleteSessionsOfUser(tx, userId, null)
}

/** Tokens past their time go, and sessions without any. */
export function removeExpiredSessions(ctx: Context): void {
  inTransaction(ctx.db, (tx) => {
    deleteExpiredTokens(tx, ctx.now())
    deleteSessionsWithoutTokens(tx)
  })
}
