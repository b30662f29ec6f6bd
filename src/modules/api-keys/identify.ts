import type { ApiKeyIdentity, Context } from '../../context.ts'
import { generationCache } from '../../db/generation.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { ifRoom } from '../../db/tidying.ts'
import { MINUTE_MS } from '../../domain/durations.ts'
import { isRecent } from '../../domain/recent.ts'
import { hashToken } from '../../platform/tokens.ts'
import { type ApiKey, findKey, findKeyByHash, touchKey } from './queries.ts'

const TOUCH_EVERY_MS = MINUTE_MS
const keyCache = generationCache<ApiKey>('access')

/** The key that was sent; undefined if unknown, revoked or expired. Records now and then that it is in use. */
export function identifyKey(ctx: Context, sent: string): ApiKeyIdentity | undefined {
  const hash = hashToken(sent)
  const key = keyCache.get(ctx.db, hash, () => findKeyByHash(ctx.db.orm, hash))
  if (!isGood(ctx, key)) return undefined
  if (!isRecent(key.lastUsedAt ?? 0, ctx.now(), TOUCH_EVERY_MS)) {
    key.lastUsedAt = ctx.now()
    ifRoom(ctx.db, () => inRelaxedTransaction(ctx.db, (tx) => touchKey(tx, key.id, ctx.now())))
  }
  const { id, name, projectId, isGlobal, createdBy } = key
  return { id, name, projectId, isGlobal, createdBy }
}

/** Whether a key that was valid still is. */
export const isKeyGood = (ctx: Context, id: string): boolean => isGood(ctx, findKey(ctx.db.orm, id))

const isGood = (ctx: Context, key: ApiKey | undefined): key is ApiKey =>
  key !== undefined && (key.expiresAt === null || key.expiresAt > ctx.now())
