import { type Db, type DbOrTx, inTransaction } from './open.ts'

/**
 * A transaction that deletes a row and leaves those that refer to it, to be deleted in steps. For rows that nothing finds
 * any more once the row they refer to is gone. Inside a larger transaction SQLite deletes them at once all the same.
 */
export function leavingReferences<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  db.sqlite.run('PRAGMA foreign_keys = OFF')
  try {
    return inTransaction(db, work)
  } finally {
    db.sqlite.run('PRAGMA foreign_keys = ON')
  }
}
