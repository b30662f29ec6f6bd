import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const syncData = promisify(fdatasync)

/** Syncs a database's log to the disk without blocking the thread. */
export type LogSync = {
  /**
   * Resolves when everything committed before the call is on the disk. Callers that arrive during a sync share the next
   * one. Rejects when the disk fails, and ever after: commits since the last successful sync may be lost in a power
   * cut, and so may later ones, because the log is read only up to its first gap.
   */
  sync(): Promise<void>
  /** The disk's error. Other code that waits for the disk may set it too. */
  failure: unknown
  close(): void
}

/** Keeps the file open: the system reports a disk failure once to each open file, whoever else saw it. */
export function openLogSync(path: string): LogSync {
  const file = openSync(path, 'r+')
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  async function write(): Promise<void> {
    try {
      await syncData(file)
    } catch (error) {
      log.failure ??= error
    }
    if (log.failure !== undefined) throw log.failure
  }
  function begin(): Promise<void> {
    next = undefined
    const mine = write().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  const log: LogSync = {
    failure: undefined,
    sync() {
      if (running === undefined) return begin()
      // The running sync started before the caller's commit.
      next ??= running.then(begin, begin)
      return next
    },
    close: () => closeSync(file),
  }
  return log
}

/** For an in-memory database, which has no log. */
export const noLogSync = (): LogSync => ({ failure: undefined, sync: () => Promise.resolve(), close() {} })
