import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '../domain/errors.ts'

const syncData = promisify(fdatasync)

/** Makes what a database's log holds durable, without blocking the thread: on the disk, or in an object store. */
export type LogSync = {
  /**
   * Resolves when everything committed before the call is durable. Callers that arrive during a sync share the next one.
   * Rejects when the disk fails, and ever after: commits since the last successful sync may be lost in a power cut, and so
   * may later ones, because the log is read only up to its first gap.
   */
  sync(): Promise<void>
  /** Counts the commits that somebody is told of: not those that may be lost. */
  awaited: number
  /** Why nothing may be written now. */
  refusal(): AppError | null
  /** The disk's error. Other code that waits for the disk may set it too. */
  failure: unknown
  /** Whether a commit by itself is to wait for the disk: else only `sync` makes it durable. */
  readonly isOfDisk: boolean
  close(): void
}

/** Keeps the file open: the system reports a disk failure once to each open file, whoever else saw it. */
export function openLogSync(path: string): LogSync {
  const file = openSync(path, 'r+')
  const log: LogSync = {
    ...ofDisk(),
    sync: inTurns(async () => {
      try {
        await syncData(file)
      } catch (error) {
        log.failure ??= error
      }
      if (log.failure !== undefined) throw log.failure
    }),
    close: () => closeSync(file),
  }
  return log
}

/** For an in-memory database, which has no log. */
export const noLogSync = (): LogSync => ({ ...ofDisk(), sync: () => Promise.resolve(), close() {} })

/** One run of `work` at a time. Those who call during a run share the next, as the running one began before. */
export function inTurns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  function begin(): Promise<void> {
    next = undefined
    const mine = work().finally(() => {
      if (running === mine) running = undefined
    })
    running = mine
    return mine
  }
  return () => {
    // It may be about to begin while none is running any more.
    if (next !== undefined) return next
    if (running === undefined) return begin()
    next = running.then(begin, begin)
    return next
  }
}

/** Of a failed disk. */
export const diskFailed = (): AppError =>
  new AppError(
    'unavailable',
    'The disk failed while the database was being written, so nothing more can be saved safely: check the disk, then restart svc',
  )

const ofDisk = (): Omit<LogSync, 'sync' | 'close'> => ({
  failure: undefined,
  awaited: 0,
  isOfDisk: true,
  refusal() {
    return this.failure === undefined ? null : diskFailed()
  },
})
