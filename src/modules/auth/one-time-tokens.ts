import type { Context } from '../../context.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { isAhead } from '../../domain/recent.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import {
  deleteExpiredOneTimeTokens,
  deleteOneTimeToken,
  deleteOneTimeTokensOf,
  findOneTimeTokenRow,
  insertOneTimeToken,
  type OneTimePurpose,
} from './one-time-tokens/queries.ts'

type NewOneTimeToken = {
  /** `reset` and `invite` set a password; `site_code` carries a session to another domain. contract §3 and §4. */
  purpose: OneTimePurpose
  userId: string
  lifeMs: number
  /** What the consumer needs beside the user, such as the host that a code is for. */
  data?: string
}

/** `data` as it was given when it was made. */
type FoundOneTimeToken<P> = { userId: string; purpose: P; data: string | null }

/** Stores a token's hash and returns the token, which exists nowhere else. */
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

/** What the token is for; it stays good. Undefined when it is unknown, used, expired or for none of `purposes`. */
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

/** Uses the token up, in the caller's transaction. Undefined as above, and then nothing changes. */
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

/** Ends the tokens of an account that are for one of `purposes`, in the caller's transaction. */
export function endOneTimeTokens(tx: DbOrTx, userId: string, purposes: readonly OneTimePurpose[]): void {
  deleteOneTimeTokensOf(tx, userId, purposes)
}

export function removeExpiredOneTimeTokens(ctx: Context): void {
  inTransaction(ctx.db, (tx) => deleteExpiredOneTimeTokens(tx, ctx.now()))
}
