import { type Db, keeping, refuseWithoutRoom } from './open.ts'
import { withoutWait } from './relaxed.ts'
import { tidying } from './tidying.ts'

type Waiting = {
  work: (db: Db) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
  isTidying: boolean
}

/** The work for the next commit. The entry exists from the first submission until nobody is waiting. */
const queues = new WeakMap<Db, Waiting[]>()

/**
 * Writes durably: the promise resolves when the work is committed and on the disk. All work submitted while a commit is
 * in progress shares the next commit and disk sync, and the thread does not block meanwhile. `work` must be
 * synchronous, write only to the database, and tolerate being run again after a rollback. If it throws, only its own
 * writes are undone, and its promise rejects.
 */
export function groupCommit<T>(db: Db, work: (db: Db) => T extends Promise<unknown> ? never : T): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    refuseWithoutRoom(db)
    const isTidying = db.room === 'reserve'
    const waiting: Waiting = { work, resolve: (value) => resolve(value as T), reject, isTidying }
    const queue = queues.get(db)
    if (queue !== undefined) {
      queue.push(waiting)
      return
    }
    queues.set(db, [waiting])
    setImmediate(() => void commitQueue(db))
  })
}

/** Commits pending work now and waits for the disk. Call it before closing the database. */
export function flushGroupCommit(db: Db): void {
  const batch = takeBatch(db)
  if (batch.length === 0) return
  try {
    settle(batch, commit(db, batch))
  } catch (error) {
    rejectAll(batch, error)
  }
}

async function commitQueue(db: Db): Promise<void> {
  for (let batch = takeBatch(db); batch.length > 0; batch = takeBatch(db)) {
    try {
      const results = withoutWait(db, () => commit(db, batch))
      await db.log.sync()
      settle(batch, results)
    } catch (error) {
      rejectAll(batch, error)
    }
  }
  queues.delete(db)
}

const takeBatch = (db: Db): Waiting[] => queues.get(db)?.splice(0) ?? []

type Result = { value: unknown } | { error: unknown }

function settle(batch: readonly Waiting[], results: readonly Result[]): void {
  for (const [i, { resolve, reject }] of batch.entries()) {
    const result = results[i]
    if (result !== undefined && 'value' in result) resolve(result.value)
    else reject(result?.error)
  }
}

/**
 * The transaction itself failed: either nothing was kept (a full disk), or the disk failed and the outcome is unknown.
 */
function rejectAll(batch: readonly Waiting[], error: unknown): void {
  for (const { reject } of batch) reject(error)
}

function commit(db: Db, batch: readonly Waiting[]): Result[] {
  const write = () => commitAll(db, batch) ?? commitEach(db, batch)
  return batch.some(({ isTidying }) => isTidying) ? tidying(db, write) : write()
}

/** The usual case: nothing throws. If something does, undoes everything and returns undefined. */
function commitAll(db: Db, batch: readonly Waiting[]): Result[] | undefined {
  let hasFailure = false
  return transaction(db, (rollBack) => {
    const results: Result[] = []
    for (const { work } of batch) {
      try {
        results.push({ value: work(db) })
      } catch {
        hasFailure = true
        break
      }
    }
    if (!hasFailure) return results
    rollBack()
    return undefined
  })
}

/** Runs each piece of work in its own savepoint. */
function commitEach(db: Db, batch: readonly Waiting[]): Result[] {
  return transaction(db, () =>
    batch.map(({ work }) => {
      db.sqlite.run('SAVEPOINT one')
      try {
        const value = work(db)
        db.sqlite.run('RELEASE one')
        return { value }
      } catch (error) {
        db.sqlite.run('ROLLBACK TO one')
        db.sqlite.run('RELEASE one')
        return { error }
      }
    }),
  )
}

/** Uses a savepoint if a transaction is already open. */
function transaction<T>(db: Db, work: (rollBack: () => void) => T): T {
  const { sqlite } = db
  const isPart = sqlite.inTransaction
  // Each try begins anew: on a full disk there is a second one.
  return keeping(db, () => {
    let isOpen = true
    const end = (statement: string) => {
      if (isOpen && sqlite.inTransaction) sqlite.run(statement)
      isOpen = false
    }
    const rollBack = () => end(isPart ? 'ROLLBACK TO batch; RELEASE batch' : 'ROLLBACK')
    sqlite.run(isPart ? 'SAVEPOINT batch' : 'BEGIN IMMEDIATE')
    try {
      const result = work(rollBack)
      end(isPart ? 'RELEASE batch' : 'COMMIT')
      return result
    } catch (error) {
      rollBack()
      throw error
    }
  })
}
