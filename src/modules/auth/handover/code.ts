import type { Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inTidyingTransaction } from '../../../db/tidying.ts'
import { MINUTE_MS } from '../../../domain/durations.ts'
import { findUser, type User } from '../../users/accounts.ts'
import { consumeOneTimeToken, createOneTimeToken } from '../one-time-tokens.ts'

/** Where a code is redeemed, on every site host. */
export const CALLBACK_PATH = '/_svc/auth/callback'

const CODE_MS = MINUTE_MS

/** What a code is for. `browser`: hash of the secret of the one browser that may redeem it; null for any. */
type Handover = { host: string; sessionId: string; browser: string | null }

/** Makes a code that can be used once, within a minute. Only its hash is stored. */
export function createCode(ctx: Context, userId: string, handover: Handover): string {
  const data = JSON.stringify(handover)
  return inTidyingTransaction(ctx.db, (tx) =>
    createOneTimeToken(ctx, tx, { purpose: 'site_code', userId, lifeMs: CODE_MS, data }),
  )
}

/** Uses up a code, in the caller's transaction. Undefined if unknown, used or expired, or its account is gone. */
export function consumeCode(
  ctx: Context,
  tx: DbOrTx,
  code: string,
): { user: User; handover: Handover } | undefined {
  const spent = consumeOneTimeToken(ctx, tx, code, ['site_code'])
  if (spent === undefined || spent.data === null) return undefined
  const user = findUser(tx, spent.userId)
  return user && { user, handover: JSON.parse(spent.data) as Handover }
}
