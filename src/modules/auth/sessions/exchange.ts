import type { Context, RequestFacts } from '../../../context.ts'
import { audit } from '../../../db/audit.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { deleteSession, type FoundToken, findToken, markTokenReplaced, touchSession } from './queries.ts'
import { issueTokens, type LiveToken, type Tokens } from './tokens.ts'

/** contract §3: an old refresh token is accepted for one more minute. */
const REUSE_GRACE_MS = MINUTE_MS

/**
 * Exchanges one of the refresh tokens for new tokens. A replaced token that is used again within a minute is a parallel
 * request. Later, somebody has a copy: the session ends with all its tokens. Undefined when there is nothing to
 * exchange.
 */
export function exchange(
  ctx: Context,
  refresh: readonly LiveToken[],
  { ip }: RequestFacts,
): { found: FoundToken; tokens: Tokens } | undefined {
  const hash = (firstGood(ctx, refresh) ?? refresh[0])?.hash
  if (hash === undefined) return undefined
  return inTidyingTransaction(ctx.db, (tx) => {
    // Looked up again: the cache does not know of an exchange that happened a moment ago.
    const found = findToken(ctx.db, hash)
    if (found === undefined) return undefined
    if (isStale(ctx, found)) return endStolen(ctx, tx, found, ip)
    if (found.replacedAt === null) markTokenReplaced(tx, hash, ctx.now())
    touchSession(tx, found.sessionId, { lastSeenAt: ctx.now(), ip })
    return { found, tokens: issueTokens(ctx, tx, found.sessionId) }
  })
}

/** The first that was not replaced long ago. */
export const firstGood = (ctx: Context, refresh: readonly LiveToken[]): LiveToken | undefined =>
  refresh.find(({ found }) => !isStale(ctx, found))

const isStale = (ctx: Context, { replacedAt }: FoundToken): boolean =>
  replacedAt !== null && Math.abs(ctx.now() - replacedAt) > REUSE_GRACE_MS

function endStolen(ctx: Context, tx: DbOrTx, { sessionId, user }: FoundToken, ip: string): undefined {
  deleteSession(tx, sessionId)
  const reason = 'a replaced refresh token was used again'
  audit(
    ctx,
    tx,
    { kind: 'user', user, sessionId, ip },
    {
      action: 'session.end',
      target: { kind: 'session', id: sessionId, name: null },
      after: { reason },
    },
  )
  ctx.log.warn(`${reason}: session ended`, { session: sessionId, user: user.id })
}
