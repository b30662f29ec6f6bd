import { and, eq, inArray, lt } from 'drizzle-orm'
import type { DbOrTx } from '../../../db/open.ts'
import { oneTimeTokens } from '../../../db/schema.ts'

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

export function deleteExpiredOneTimeTokens(db: DbOrTx, now: number): void {
  db.delete(oneTimeTokens).where(lt(oneTimeTokens.expiresAt, now)).run()
}
