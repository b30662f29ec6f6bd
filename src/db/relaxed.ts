import { type Db, type DbOrTx, inTransaction } from './open.ts'

/**
 * A transaction that does not wait for the disk: for what a power cut may take, such as a log. The next one that waits
 * takes it along, and the order of what is on the disk stays the order of the commits.
 */
export function inRelaxedTransaction<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  return withoutWait(db, () => inTransaction(db, work))
}

/**
 * Commits at once, and resolves when it is on the disk: the thread waits as little as it can, and many at once wait
 * together. Others read what was committed before it is safe.
 */
export async function inDurableTransaction<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): Promise<T> {
  const result = inRelaxedTransaction(db, work)
  await db.log.sync()
  return result
}

/** What is committed in `work` is not on the disk yet when it returns, unless it is a part of a larger transaction. */
export function withoutWait<T>({ sqlite }: Db, work: () => T): T {
  // Inside of a transaction the pragma would do nothing, and outside of one it holds until it is taken back.
  if (sqlite.inTransaction) return work()
  sqlite.run('PRAGMA synchronous = NORMAL')
  try {
    return work()
  } finally {
    sqlite.run('PRAGMA synchronous = FULL')
  }
}
