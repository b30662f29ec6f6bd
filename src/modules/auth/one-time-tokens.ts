import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { isAhead } from '../../domain/recent.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import {
  deleteExpiredOneTimeTokens,
  deleteOneTimeToken,
  deleteOneTimeTokensOf,
  findOneTimeTokenRow,
  insertOneTimeToken,
  type OneTimePurpose,
} from './one-time-tokens/queries.ts'

const REMOVED_AT_ONCE = 500

type NewOneTimeToken = {
  /** `reset` and `invite` set a password; `site_code` hands a session over to another domain. contract §3 and §4. */
  purpose: OneTimePurpose
  userId: string
  lifeMs: number
  /** What the consumer needs besides the user, such as the host that a code is for. */
  data?: string
}

/** `data` is what was given when the token was made. */
type FoundOneTimeToken<P> = { userId: string; purpose: P; data: string | null }

/** Stores a token's hash and returns the token, which is stored nowhere. */
export function createOneTimeToken(ctx: Context, tx: DbOrTx, input: NewOneTimeToken): string {
  const token = newToken()
  insertOneTimeToken(tx, {
    tokenHash: hashToken(token),
    purpose: input.purpose,
    userId: input.userId,
    data: input.data ?? null,
    createdAt: ctx.now(),
    expiresAt: ctx.now() + input.lifeMs,
  })
  return token
}

/** What the token is for, without using it up. Undefined if unknown, used, expired or for none of `purposes`. */
export function findOneTimeToken<P extends OneTimePurpose>(
  ctx: Context,
  db: DbOrTx,
  token: string,
  purposes: readonly P[],
): FoundOneTimeToken<P> | undefined {
  const row = findOneTimeTokenRow(db, hashToken(token))
  const purpose = purposes.find((one) => one === row?.purpose)
  if (row === undefined || purpose === undefined) return undefined
  if (row.expiresAt <= ctx.now() || isAhead(row.createdAt, ctx.now())) return undefined
  return { userId: row.userId, purpose, data: row.data }
}

/** Uses up the token, in the caller's transaction. Undefined in the same cases as above; then nothing changes. */
export function consumeOneTimeToken<P extends OneTimePurpose>(
  ctx: Context,
  tx: DbOrTx,
  token: string,
  purposes: readonly P[],
): FoundOneTimeToken<P> | undefined {
  const found = findOneTimeToken(ctx, tx, token, purposes)
  if (found !== undefined) deleteOneTimeToken(tx, hashToken(token))
  return found
}

/** Ends the account's tokens for any of `purposes`, in the caller's transaction. */
export function endOneTimeTokens(tx: DbOrTx, userId: string, purposes: readonly OneTimePurpose[]): void {
  deleteOneTimeTokensOf(tx, userId, purposes)
}

export function removeExpiredOneTimeTokens(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const remove = () => deleteExpiredOneTimeTokens(ctx.db, ctx.now(), REMOVED_AT_ONCE)
  return inSteps(stop, () => inRelaxedTransaction(ctx.db, remove) === REMOVED_AT_ONCE)
}
