import { and, eq } from 'drizzle-orm'
import type { DbOrTx } from '../../../db/open.ts'
import { recoveryCodes } from '../../../db/schema.ts'
import { countRows } from '../../../db/select.ts'

export function hasRecoveryCode(db: DbOrTx, userId: string, codeHash: string): boolean {
  return db.select().from(recoveryCodes).where(recoveryCodeOf(userId, codeHash)).get() !== undefined
}

export const countRecoveryCodes = (db: DbOrTx, userId: string): number =>
  countRows(db, recoveryCodes, eq(recoveryCodes.userId, userId))

/** Replaces all codes of the user. */
export function replaceRecoveryCodes(db: DbOrTx, userId: string, codeHashes: readonly string[]): void {
  db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run()
  if (codeHashes.length === 0) return
  db.insert(recoveryCodes)
    .values(codeHashes.map((codeHash) => ({ userId, codeHash })))
    .run()
}

/** True when there was one. */
export function deleteRecoveryCode(db: DbOrTx, userId: string, codeHash: string): boolean {
  return db.delete(recoveryCodes).where(recoveryCodeOf(userId, codeHash)).returning().all().length === 1
}

const recoveryCodeOf = (userId: string, codeHash: string) =>
  and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash))
