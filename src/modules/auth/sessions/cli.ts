import type { Context, RequestFacts } from '../../../context.ts'
import { generationCache } from '../../../db/generation.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inRelaxedTransaction } from '../../../db/relaxed.ts'
import { ifRoom } from '../../../db/tidying.ts'
import type { SessionUser } from '../../../domain/actor.ts'
import { DAY_MS, MINUTE_MS } from '../../../domain/durations.ts'
import { isRecent } from '../../../domain/recent.ts'
import { hashToken, newCliToken } from '../../../platform/tokens.ts'
import { addSession } from './open.ts'
import { type CliSession, findCliSession, insertCliSession, touchSession } from './queries.ts'

/** Without use for as long it ends. contract 16 §7. */
export const CLI_UNUSED_MS = 90 * DAY_MS
const TOUCH_EVERY_MS = 5 * MINUTE_MS

const cache = generationCache<CliSession>('access')

/** Opens a session of the command line in the caller's transaction. Its token is stored only as a hash. */
export function openCliSession(
  ctx: Context,
  tx: DbOrTx,
  userId: string,
  { ip, userAgent, name }: { ip: string; userAgent: string; name: string },
): { id: string; token: string } {
  const id = addSession(ctx, tx, userId, { ip, userAgent })
  const token = newCliToken()
  insertCliSession(tx, { sessionId: id, tokenHash: hashToken(token), name })
  return { id, token }
}

/** The person whose token this is; undefined when the session has ended. Records now and then that it is in use. */
export function identifyCli(
  ctx: Context,
  token: string,
  { ip }: RequestFacts,
): { sessionId: string; user: SessionUser } | undefined {
  const hash = hashToken(token)
  const found = cache.get(ctx.db, hash, () => findCliSession(ctx.db, hash))
  if (found === undefined || !isRecent(found.lastSeenAt, ctx.now(), CLI_UNUSED_MS)) return undefined
  const { sessionId, user } = found
  if (!isRecent(found.lastSeenAt, ctx.now(), TOUCH_EVERY_MS)) {
    found.lastSeenAt = ctx.now()
    ifRoom(ctx.db, () =>
      inRelaxedTransaction(ctx.db, (tx) => touchSession(tx, sessionId, { lastSeenAt: ctx.now(), ip })),
    )
  }
  return { sessionId, user }
}
