import type { Context, RequestFacts } from '../../../context.ts'
import { generationCache } from '../../../db/generation.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { ACCESS_COOKIE, cookieValues, REFRESH_COOKIE } from '../../../domain/cookies.ts'
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts'
import { isAhead } from '../../../domain/recent.ts'
import { hashToken, newToken } from '../../../platform/tokens.ts'
import { type FoundToken, findToken, insertToken } from './queries.ts'

/** contract §3: access 1 hour, refresh 30 days. */
export const ACCESS_MS = HOUR_MS
export const REFRESH_MS = 30 * DAY_MS

/** The contents of the session cookies. Only their hashes are stored. */
export type Tokens = { access: string; refresh: string }

type TokenKind = FoundToken['kind']

/** Adds a pair of tokens to the session; earlier ones stay valid. */
export function issueTokens(ctx: Context, tx: DbOrTx, sessionId: string): Tokens {
  const now = ctx.now()
  const tokens = { access: newToken(), refresh: newToken() }
  const row = (token: string, kind: TokenKind, lifeMs: number) =>
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

/** A token issued by a clock that was ahead would stay valid until that time comes. */
function isLive(ctx: Context, { kind, expiresAt }: FoundToken): boolean {
  const issuedAt = expiresAt - (kind === 'access' ? ACCESS_MS : REFRESH_MS)
  return expiresAt > ctx.now() && !isAhead(issuedAt, ctx.now())
}

/** `found` may come from the cache, which does not know of an exchange that happened a moment ago. */
export type LiveToken = { hash: string; found: FoundToken }

const cache = generationCache<FoundToken>('access')

/** The tokens of that kind in the cookies that are known, not expired and valid on this host. */
export function liveTokens(
  ctx: Context,
  cookieHeader: string | null,
  kind: TokenKind,
  { host }: RequestFacts,
): LiveToken[] {
  const values = cookieValues(cookieHeader, kind === 'access' ? ACCESS_COOKIE : REFRESH_COOKIE)
  return values.flatMap((token) => {
    const hash = hashToken(token)
    const found = cache.get(ctx.db, hash, () => findToken(ctx.db, hash))
    if (found === undefined || found.kind !== kind || !isLive(ctx, found)) return []
    return found.host === null || found.host === host ? [{ hash, found }] : []
  })
}
