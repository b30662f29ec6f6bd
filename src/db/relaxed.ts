import { type Db, type DbOrTx, inTransaction } from './open.ts'

/**
 * A transaction that does not wait for the disk: for what a power cut may take, such as a log. The next one that waits
 * takes it along, and the order of what is on the disk stays the order of the commits.
 */
export function inRelaxedTransaction<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  // Inside of a transaction the pragma would do nothing, and outside of one it holds until it is taken back.
  if (db.sqlite.inTransaction) return inTransaction(db, work)
  db.sqlite.run('PRAGMA synchronous = NORMAL')
  try {
    return inTransaction(db, work)
  } finally {
    db.sqlite.run('PRAGMA synchronous = FULL')
  }
}
