import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const syncData = promisify(fdatasync)

/** Brings the log of a database onto the disk while the thread does other things. */
export type LogSync = {
  /**
   * Resolves when all that was committed before is on the disk. Those who ask while it is written share the next one.
   * Rejects when the disk fails, and from then on: what was committed since the last that succeeded may be gone after a
   * loss of power, and so may what follows it, as the log is read from its beginning to its first gap.
   */
  sync(): Promise<void>
  /** What the disk failed with. It may be noted by others who wait for the disk. */
  failure: unknown
  close(): void
}

/** The file stays open: each open file is told once of a failure of the disk, whoever else was told of it before. */
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
      // That one began before what the caller committed was there.
      next ??= running.then(begin, begin)
      return next
    },
    close: () => closeSync(file),
  }
  return log
}

/** Of a database in memory, which has no log. */
export const noLogSync = (): LogSync => ({ failure: undefined, sync: () => Promise.resolve(), close() {} })
