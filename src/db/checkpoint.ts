import type { Database } from 'bun:sqlite'
import { programUrl } from '../platform/program-url.ts'
// @ts-expect-error: the text of the file is imported, and TypeScript sees its exports
import program from './checkpoint-program.ts' with { type: 'text' }
import type { CheckpointJob, CheckpointState } from './checkpoint-program.ts'
import type { DatabaseFile } from './database-file.ts'
import type { Db } from './open.ts'

/** A checkpoint is due when this many pages are only in the log: 16 MB. A page rewritten meanwhile is copied once. */
export const DUE_PAGES = 4000
/** Each round has less to do than the one before. Under constant writes even the last may not catch up. */
const MAX_ROUNDS = 10

/**
 * Regularly checks whether many commits are only in the log, and copies them into the file on another thread: a
 * checkpoint waits for the disk twice, and no commit should wait for that. Returns a function that stops it.
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

/** Returns undefined if there is little to do, or if the log belongs to a file that no longer has this name. */
export function checkpointWhenDue(db: Db): Promise<void> | undefined {
  return isDue(db.sqlite) && db.file.isInPlace() ? checkpointApart(db.file) : undefined
}

export function isDue(sqlite: Database): boolean {
  const state = logState(sqlite)
  return state !== null && state.log - state.checkpointed >= DUE_PAGES
}

/**
 * Takes less than a microsecond for `NOOP`; `PASSIVE` copies what it can. Never throws: readers and writers of an unreadable file
 * report the error.
 */
export function logState(sqlite: Database, kind: 'NOOP' | 'PASSIVE' = 'NOOP'): CheckpointState | null {
  try {
    return sqlite.query<CheckpointState, []>(`PRAGMA wal_checkpoint(${kind})`).get()
  } catch {
    return null
  }
}

/**
 * Copies what other connections committed into the file and syncs it. What they commit meanwhile is copied right after,
 * because the log restarts only when the file has everything. Does nothing if the name leads to another file by then:
 * the log is not of that file. Never rejects: if it cannot run, the next one does the work.
 */
export function checkpointApart({ path, inode }: DatabaseFile): Promise<void> {
  if (inode === undefined) return Promise.resolve()
  const url = programUrl(program)
  const worker = new Worker(url)
  const { promise, resolve } = Promise.withResolvers<void>()
  worker.onmessage = () => resolve()
  worker.onerror = () => resolve()
  worker.postMessage({ path, inode, maxRounds: MAX_ROUNDS } satisfies CheckpointJob)
  return promise.finally(() => {
    worker.terminate()
    URL.revokeObjectURL(url)
  })
}
