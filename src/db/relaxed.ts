import { type Db, type DbOrTx, inTransaction } from './open.ts'
import { asUpkeep } from './tidying.ts'

/**
 * A transaction that does not wait for the disk, for data that a power cut may lose, such as a log. The next commit
 * that waits syncs it too, so the disk always keeps the order of commits. No answer waits for it. Goes on while only tidying up may write, since
 * upkeep is what makes room.
 */
export function inRelaxedTransaction<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T {
  const { awaited } = db.log
  try {
    return withoutWait(db, () => asUpkeep(db, () => inTransaction(db, work)))
  } finally {
    db.log.awaited = awaited
  }
}

/**
 * Commits immediately and resolves when the commit is on the disk: the thread hardly blocks, and concurrent calls share
 * one sync. Others can read the commit before it is durable.
 */
export async function inDurableTransaction<T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): Promise<T> {
  const result = withoutWait(db, () => inTransaction(db, work))
  await db.log.sync()
  return result
}

/** Commits of `work` are not on the disk yet when it returns, unless it runs inside a larger transaction. */
export function withoutWait<T>({ sqlite, log }: Db, work: () => T): T {
  // Inside a transaction the pragma has no effect; outside it stays in force until it is reset.
  if (sqlite.inTransaction || !log.isOfDisk) return work()
  sqlite.run('PRAGMA synchronous = NORMAL')
  try {
    return work()
  } finally {
    sqlite.run('PRAGMA synchronous = FULL')
  }
}
