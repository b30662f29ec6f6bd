import { Database } from 'bun:sqlite'
import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { notPrimary } from '../domain/store-errors.ts'
import { namingHolder, waitForLocks } from '../platform/database-lock.ts'
import { watchFile } from './database-file.ts'
import type { LogSync } from './log-sync.ts'
import { type Db, withOrm } from './open.ts'
import { restInFile } from './replication/file-header.ts'

/**
 * Opens the copy of a database that another machine writes. It is never migrated, and nothing can be written: `startFollowing`
 * puts the pages in beside SQLite. A file with a log beside it, as a killed primary left it, is read together with that log.
 */
export const openFollowed = (path: string): Db =>
  namingHolder(path, () => {
    if (!hasLog(path)) rest(path)
    return open(path)
  })

/** Opens it beside the server that uses it, for commands. Nothing of it is changed, also not by closing it. */
export const openBeside = (path: string): Db => namingHolder(path, () => open(path))

function open(path: string): Db {
  const sqlite = new Database(path, { readonly: true, strict: true })
  waitForLocks(sqlite)
  sqlite.run('PRAGMA query_only = ON')
  sqlite.run('PRAGMA temp_store = MEMORY')
  sqlite.run('PRAGMA cache_size = -16000')
  // Nothing is written, so nothing can be lost with a file that was moved.
  return withOrm(sqlite, {
    file: { ...watchFile(path), isInPlace: () => true },
    log: followedLog(),
    hold: undefined,
  })
}

const hasLog = (path: string): boolean => (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0

/** Without a log readers see what is put into the file. */
function rest(path: string): void {
  for (const beside of ['-wal', '-shm']) rmSync(`${path}${beside}`, { force: true })
  const file = openSync(path, 'r+')
  try {
    restInFile(file)
  } finally {
    closeSync(file)
  }
}

const followedLog = (): LogSync => ({
  sync: () => Promise.resolve(),
  awaited: 0,
  failure: undefined,
  refusal: notPrimary,
  isOfDisk: false,
  close() {},
})
