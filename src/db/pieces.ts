import type { Db } from './open.ts'
import { prepared } from './statements.ts'

/**
 * The most rows that one statement changes. SQLite keeps what a statement changes in memory until it ends, even inside
 * a transaction: one statement over millions of rows would take gigabytes.
 */
export const PIECE = 2000

/** Repeats a statement until it changes nothing more. Its last parameter is the most rows that it may change. */
export function runInPieces(db: Db, sql: string, ...values: readonly string[]): void {
  const statement = prepared(db, sql)
  let changed: number
  do changed = statement.run(...values, PIECE).changes
  while (changed > 0)
}
