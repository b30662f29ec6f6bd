import type { Db, DbOrTx } from './open.ts'
import { inTransaction, isDiskFull } from './open.ts'

/**
 * Runs a write that frees space or lets people in: when the disk is full, the reserve is given up and the write done again.
 * For what deletes, signs in or out, or moves an alias; other writes find no room (507). contract 12.11.
 */
export const tidying = <T>(db: Db, write: () => T): T => using(db, 'reserve', write)

/** A transaction that tidies up. */
export const inTidyingTransaction = <T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T => tidying(db, () => inTransaction(db, work))

/** Runs upkeep, which may write while only tidying up may, but leaves the reserve alone. */
export const asUpkeep = <T>(db: Db, write: () => T): T =>
  db.room === 'reserve' ? write() : using(db, 'upkeep', write)

/** A transaction of upkeep. */
export const inUpkeepTransaction = <T>(
  db: Db,
  work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T,
): T => asUpkeep(db, () => inTransaction(db, work))

/** Runs a write that is left out when there is no room for it, or nothing may be written: it records that something is in use. */
export function ifRoom(db: Db, write: () => void): void {
  try {
    asUpkeep(db, write)
  } catch (error) {
    if (!isDiskFull(error) && db.log.refusal() === null) throw error
  }
}

/** The write must be synchronous up to where it commits, or is queued for a commit. */
function using<T>(db: Db, room: Db['room'], write: () => T): T {
  const before = db.room
  db.room = room
  try {
    return write()
  } finally {
    db.room = before
  }
}
