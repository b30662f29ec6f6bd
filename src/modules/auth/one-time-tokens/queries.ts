import { and, eq, inArray } from 'drizzle-orm'
import type { Db, DbOrTx } from '../../../db/open.ts'
import { oneTimeTokens } from '../../../db/schema.ts'
import { prepared } from '../../../db/statements.ts'

type OneTimeTokenRow = typeof oneTimeTokens.$inferSelect
export type OneTimePurpose = OneTimeTokenRow['purpose']

export function findOneTimeTokenRow(db: DbOrTx, tokenHash: string): OneTimeTokenRow | undefined {
  return db.select().from(oneTimeTokens).where(eq(oneTimeTokens.tokenHash, tokenHash)).get()
}

export function insertOneTimeToken(db: DbOrTx, token: OneTimeTokenRow): void {
  db.insert(oneTimeTokens).values(token).run()
}

export function deleteOneTimeToken(db: DbOrTx, tokenHash: string): void {
  db.delete(oneTimeTokens).where(eq(oneTimeTokens.tokenHash, tokenHash)).run()
}

export function deleteOneTimeTokensOf(db: DbOrTx, userId: string, purposes: readonly OneTimePurpose[]): void {
  db.delete(oneTimeTokens)
    .where(and(eq(oneTimeTokens.userId, userId), inArray(oneTimeTokens.purpose, [...purposes])))
    .run()
}

/** Deletes up to `limit` expired tokens; returns how many. */
export function deleteExpiredOneTimeTokens(db: Db, now: number, limit: number): number {
  return prepared(
    db,
    `DELETE FROM one_time_tokens WHERE token_hash IN
       (SELECT token_hash FROM one_time_tokens WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
  ).run(now, limit).changes
}
