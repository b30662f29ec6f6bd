import type { Context } from '../../context.ts'
import { generationCache } from '../../db/generation.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { ifRoom } from '../../db/tidying.ts'
import type { ApiKeyIdentity } from '../../domain/actor.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import type { AppError } from '../../domain/errors.ts'
import { isRecent } from '../../domain/recent.ts'
import { hashToken } from '../../platform/tokens.ts'
import { type ApiKey, findKey, findKeyByHash, touchKey } from './queries.ts'
import { isExpired, refusalOfKey } from './suspended.ts'

const TOUCH_EVERY_MS = MINUTE_MS
const keyCache = generationCache<ApiKey>('access')

/**
 * The key that was sent; the error to answer if it is unknown, revoked, expired or suspended. Records now and then that
 * a good one is in use.
 */
export function identifyKey(ctx: Context, sent: string): ApiKeyIdentity | AppError {
  const hash = hashToken(sent)
  const key = keyCache.get(ctx.db, hash, () => findKeyByHash(ctx.db.orm, hash))
  if (!isGood(ctx, key)) return refusalOfKey(ctx, key)
  if (!isRecent(key.lastUsedAt ?? 0, ctx.now(), TOUCH_EVERY_MS)) {
    key.lastUsedAt = ctx.now()
    ifRoom(ctx.db, () => inRelaxedTransaction(ctx.db, (tx) => touchKey(tx, key.id, ctx.now())))
  }
  const { id, name, projectId, isGlobal, createdBy } = key
  return { id, name, projectId, isGlobal, createdBy }
}

/** What a key that was good is refused with now; undefined while it still is good. */
export function refusalNow(ctx: Context, id: string): AppError | undefined {
  const key = findKey(ctx.db.orm, id)
  return isGood(ctx, key) ? undefined : refusalOfKey(ctx, key)
}

const isGood = (ctx: Context, key: ApiKey | undefined): key is ApiKey =>
  key !== undefined && !isExpired(ctx, key) && key.suspendedAt === null
