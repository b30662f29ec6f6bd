import type { Database } from 'bun:sqlite'
import { readFileSync, statSync } from 'node:fs'

/** How long the server and every command wait for a database that another program has locked. contract 12.11. */
const LOCK_WAIT_MS = 30_000

/** Another program holds the database. The message says which one should be let finish. */
export class DatabaseLockedError extends Error {}

/** For a connection's first statement: whatever comes before it would fail at once. */
export const waitForLocks = (sqlite: Database): void =>
  void sqlite.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)

/** Runs `work` on the database at `path`; a lock that outlasts the wait becomes a `DatabaseLockedError`. */
export function namingHolder<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw isLocked(error) ? new DatabaseLockedError(lockedText(path), { cause: error }) : error
  }
}

/**
 * Repeats what SQLite refuses without waiting, because waiting could be in vain: several programs that switch a new
 * database to its log.
 */
export function untilUnlocked<T>(work: () => T): T {
  const end = performance.now() + LOCK_WAIT_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!isLocked(error) || performance.now() > end) throw error
      Bun.sleepSync(50)
    }
  }
}

function isLocked(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(String(error.code))) return true
  return isLocked(error.cause)
}

function lockedText(path: string): string {
  const holders = [path, `${path}-shm`].flatMap(holdersOf)
  const who = holders.length === 0 ? 'another program' : [...new Set(holders)].join(' and ')
  return `${path} is locked by ${who}, also after ${LOCK_WAIT_MS / 1000} s: let that finish, or end it, and try again`
}

/** The processes with an exclusive lock on the file, such as `sqlite3 (process 812)`; none where /proc/locks is missing. */
function holdersOf(path: string): string[] {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino
  return textAt('/proc/locks')
    .split('\n')
    .map((line) => /WRITE\s+(?<pid>\d+)\s+[\da-f]+:[\da-f]+:(?<inode>\d+)\s/.exec(line)?.groups)
    .filter((lock) => lock !== undefined && Number(lock['inode']) === inode)
    .map((lock) => Number(lock?.['pid']))
    .filter((pid) => pid > 0 && pid !== process.pid)
    .map((pid) => `${textAt(`/proc/${pid}/comm`).trim() || 'a program'} (process ${pid})`)
}

function textAt(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
