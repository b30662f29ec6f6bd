import type { Context } from '../../context.ts'
import { type DbOrTx, inTransaction } from '../../db/open.ts'
import { hashToken, newToken } from '../../platform/tokens.ts'
import {
  deleteExpiredOneTimeTokens,
  deleteOneTimeToken,
  deleteOneTimeTokensOf,
  findOneTimeToken,
  insertOneTimeToken,
  type OneTimeTokenRow,
} from './queries.ts'

/** `reset` and `invite` set a password; `site_code` carries a session to another domain. contract §3 and §4. */
type OneTimePurpose = OneTimeTokenRow['purpose']

type NewOneTimeToken = {
  purpose: OneTimePurpose
  userId: string
  lifeMs: number
  /** What the consumer needs beside the user, such as the host that a code is for. */
  data?: string
}

/** Their links lead to the page where a password is set. */
export const SETS_PASSWORD: readonly OneTimePurpose[] = ['reset', 'invite']

/** Stores a token's hash and returns the token, which exists nowhere else. One that sets a password ends the older ones. */
export function createOneTimeToken(ctx: Context, tx: DbOrTx, input: NewOneTimeToken): string {
  if (SETS_PASSWORD.includes(input.purpose)) deleteOneTimeTokensOf(tx, input.userId, SETS_PASSWORD)
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

/**
 * Uses the token up, in the caller's transaction. Undefined when it is unknown, used, expired or for another purpose
 * than `purposes`, and then nothing changes.
 */
export function consumeOneTimeToken(
  ctx: Context,
  tx: DbOrTx,
  token: string,
  purposes: readonly OneTimePurpose[],
): { userId: string; purpose: OneTimePurpose; data: string | null } | undefined {
  const tokenHash = hashToken(token)
  const found = findOneTimeToken(tx, tokenHash)
  if (found === undefined || found.expiresAt <= ctx.now() || !purposes.includes(found.purpose))
    return undefined
  deleteOneTimeToken(tx, tokenHash)
  return { userId: found.userId, purpose: found.purpose, data: found.data }
}

/** Links that were mailed, or are to be, to an address that is no longer the account's. */
export function endResetLinks(tx: DbOrTx, userId: string): void {
  deleteOneTimeTokensOf(tx, userId, ['reset'])
}

export function removeExpiredOneTimeTokens(ctx: Context): void {
  inTransaction(ctx.db, (tx) => deleteExpiredOneTimeTokens(tx, ctx.now()))
}
