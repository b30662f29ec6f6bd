import { type Db, refuseLostFile } from './open.ts'

type Waiting = {
  work: (db: Db) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

const queues = new WeakMap<Db, Waiting[]>()

/**
 * Writes durably, sharing one commit with all else that was handed over in the same turn of the event loop: the promise
 * resolves after `COMMIT`. `work` must be synchronous, write only to the database, and bear being run again after it was
 * rolled back. When it throws, its own writes are undone, the promise rejects, and its neighbours are not touched.
 */
export function groupCommit<T>(db: Db, work: (db: Db) => T extends Promise<unknown> ? never : T): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const waiting: Waiting = { work, resolve: (value) => resolve(value as T), reject }
    const queue = queues.get(db)
    if (queue !== undefined) {
      queue.push(waiting)
      return
    }
    queues.set(db, [waiting])
    setImmediate(() => flushGroupCommit(db))
  })
}

/** Commits now what waits: before the database is closed, and before a reader that must see it. */
export function flushGroupCommit(db: Db): void {
  const batch = queues.get(db)
  if (batch === undefined) return
  queues.delete(db)
  try {
    const results = commitAll(db, batch) ?? commitEach(db, batch)
    for (const [i, { resolve, reject }] of batch.entries()) {
      const result = results[i]
      if (result !== undefined && 'value' in result) resolve(result.value)
      else reject(result?.error)
    }
  } catch (error) {
    // The transaction itself failed, such as on a full disk: nothing of it was kept.
    for (const { reject } of batch) reject(error)
  }
}

type Result = { value: unknown } | { error: unknown }

/** The usual case: nobody throws. Undefined, with all undone, when somebody does. */
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

/** Each behind a savepoint of its own. */
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

/** Inside of a transaction that somebody has open, a part of that one. */
function transaction<T>(db: Db, work: (rollBack: () => void) => T): T {
  const { sqlite } = db
  const isPart = sqlite.inTransaction
  if (!isPart) refuseLostFile(db)
  let isOpen = true
  const rollBack = () => {
    if (isOpen && sqlite.inTransaction) sqlite.run(isPart ? 'ROLLBACK TO batch; RELEASE batch' : 'ROLLBACK')
    isOpen = false
  }
  sqlite.run(isPart ? 'SAVEPOINT batch' : 'BEGIN IMMEDIATE')
  try {
    const result = work(rollBack)
    if (isOpen) sqlite.run(isPart ? 'RELEASE batch' : 'COMMIT')
    isOpen = false
    return result
  } catch (error) {
    rollBack()
    throw error
  } finally {
    db.writes += 1
  }
}
