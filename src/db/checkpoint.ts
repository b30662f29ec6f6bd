import type { Database } from 'bun:sqlite'
import type { Db } from './open.ts'

/** Pages in the log that the file does not have yet: 16 MB. A page that is written again meanwhile is brought over once. */
const DUE_PAGES = 4000
/** Each has less to do than the one before; where many write, the last may not catch up either. */
const MOST_ROUNDS = 10

/**
 * Looks every now and then whether much of what was committed is still in the log alone, and brings it into the file on
 * another thread: a checkpoint waits for the disk twice, and no commit should wait with it. Returns how to end it.
 */
export function keepCheckpointed(db: Db, everyMs = 1000): () => Promise<void> {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= checkpointWhenDue(db)?.finally(() => {
      running = undefined
    })
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Undefined when there is little to do, or the log belongs to another file than the one that has the name now. */
export function checkpointWhenDue(db: Db): Promise<void> | undefined {
  return isDue(db.sqlite) && db.isInPlace() ? checkpointApart(db.sqlite.filename) : undefined
}

/** Costs less than a microsecond. Never throws: a file that cannot be read is told by those who read and write it. */
export function isDue(sqlite: Database): boolean {
  try {
    const state = sqlite.query<CheckpointState, []>('PRAGMA wal_checkpoint(NOOP)').get()
    return state !== null && state.log - state.checkpointed >= DUE_PAGES
  } catch {
    return false
  }
}

/** In pages: what the log has, and what of it the file has too. */
type CheckpointState = { busy: number; log: number; checkpointed: number }

/**
 * Brings what others committed into the file, and that onto the disk. What they commit meanwhile follows at once, as the log
 * begins anew only when the file has all of it. Never rejects: when it cannot run, the next one does it. The thread is given
 * its program as text: one file less that the executable would have to carry.
 */
export function checkpointApart(file: string): Promise<void> {
  const program = `
    import { Database } from 'bun:sqlite'
    const sqlite = new Database(${JSON.stringify(file)}, { readwrite: true })
    sqlite.run('PRAGMA synchronous = NORMAL')
    const isBehind = () => {
      const { log, checkpointed } = sqlite.query('PRAGMA wal_checkpoint(NOOP)').get()
      return log > checkpointed
    }
    for (let round = 0; round < ${MOST_ROUNDS} && isBehind(); round++)
      sqlite.run('PRAGMA wal_checkpoint(PASSIVE)')
    sqlite.close()
    postMessage('done')`
  const url = URL.createObjectURL(new Blob([program], { type: 'application/javascript' }))
  const worker = new Worker(url)
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.onmessage = () => resolve()
  worker.onerror = () => resolve()
  return promise.finally(() => {
    worker.terminate()
    URL.revokeObjectURL(url)
  })
}
