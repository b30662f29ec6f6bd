import { Database } from 'bun:sqlite'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { DataDirError } from '../domain/data-dir-error.ts'
import { AppError } from '../domain/errors.ts'
import { namingHolder, untilUnlocked, waitForLocks } from '../platform/database-lock.ts'
import { handOverNew } from '../platform/owner.ts'
import { noReserve, type Reserve } from '../platform/reserve.ts'
import { type DatabaseFile, refuseMoved, watchFile } from './database-file.ts'
import { emptyLog } from './empty-log.ts'
import { type LogSync, noLogSync, openLogSync } from './log-sync.ts'
import { type MigrationGuards, migrate } from './migrate.ts'
import type { Hold } from './replication/holds.ts'

/** The database: drizzle for queries, the raw handle for prepared statements on hot paths, and a counter of writes. */
export type Db = {
  readonly orm: Orm
  sqlite: Database
  readonly file: DatabaseFile
  /** Makes commits durable that did not wait for it. With an object store it is replaced once: see `replication/`. */
  log: LogSync
  /** Of a database whose log is shipped, until shipping begins: nothing of the log is copied into the file. */
  readonly hold: Hold | undefined
  /** Increases with each transaction of this process, and with each detected write of another: caches may be stale. */
  writes: number
  /** Space on the disk for tidying up. A server sets it. */
  reserve: Reserve
  /** What the writes of the current call may use on a full disk: see `tidying.ts`. */
  room: 'usual' | 'upkeep' | 'reserve'
  close: () => void
}
export type Orm = BunSQLiteDatabase
/** What queries accept: the database, or a transaction open on it. */
export type DbOrTx = Pick<
  Orm,
  'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'all' | 'get' | 'run' | 'values' | '$count'
>

/** `isShipped`: what is committed stays in the log until `startShipping` has put it into the object store. */
export type OpenOptions = MigrationGuards & { isShipped?: boolean }

/**
 * Opens and migrates the database at `path`, or an in-memory one for `:memory:`. Guards as for `migrate`. Throws
 * `DataDirError` and `DatabaseLockedError`.
 */
export const openDb = (path: string, now: number, options: OpenOptions = {}): Db =>
  namingHolder(path, () => dbOf(openFile(path), path, now, options))

/** The same of a database that is open. */
export function dbOf(
  sqlite: Database,
  path: string,
  now: number,
  { isShipped = false, ...guards }: OpenOptions = {},
): Db {
  sqlite.run('PRAGMA synchronous = FULL')
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run('PRAGMA temp_store = MEMORY')
  sqlite.run('PRAGMA cache_size = -16000')
  // Commits do not checkpoint: a server does that separately (`keepCheckpointed`). If nothing does, or writes are too
  // fast for it to catch up, the log restarts at 64 MB.
  sqlite.run(`PRAGMA wal_autocheckpoint = ${isShipped ? 0 : 16_000}`)
  // Shrinks the log again after a large commit, or after a long read made it grow.
  sqlite.run('PRAGMA journal_size_limit = 67108864')
  const file = watchFile(path)
  const hold = isShipped ? holdLog(file) : undefined
  try {
    migrate(sqlite, now, undefined, guards)
  } catch (error) {
    // The last connection that closes copies its log into the file.
    if (!isShipped) sqlite.close()
    throw error
  }
  const log = path === ':memory:' ? noLogSync() : openLogSync(`${path}-wal`)
  return withOrm(sqlite, { file, log, hold })
}

const holdLog = (file: DatabaseFile): Hold =>
  (require('./replication/holds.ts') as typeof import('./replication/holds.ts')).holdLog(file)

/** Loads drizzle on first use: that takes 5 ms, which the first file after a start need not wait for. */
export function withOrm(sqlite: Database, parts: Pick<Db, 'file' | 'log' | 'hold'>): Db {
  let orm: Orm | undefined
  const db: Db = {
    get orm() {
      orm ??= (require('./orm.ts') as typeof import('./orm.ts')).createOrm(sqlite)
      return orm
    },
    sqlite,
    ...parts,
    writes: 0,
    reserve: noReserve,
    room: 'usual',
    close() {
      sqlite.close()
      db.log.close()
    },
  }
  return db
}

function openFile(path: string): Database {
  try {
    const sqlite = handOverNew(path, () => new Database(path, { create: true, strict: true }))
    waitForLocks(sqlite)
    untilUnlocked(() => sqlite.run('PRAGMA journal_mode = WAL'))
    waitForWriters(sqlite)
    return sqlite
  } catch (error) {
    throw new DataDirError(`${path} cannot be opened as the database: ${rootCause(error).message}`, {
      cause: error,
      // A file that belongs to another user or is read-only is not damaged.
      damaged: /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(sqliteCode(error) ?? '') ? 'database' : undefined,
    })
  }
}

/** Reading does not meet the lock of another writer, whose wait would stop a server that serves already. contract 12.11. */
function waitForWriters(sqlite: Database): void {
  sqlite.run('BEGIN IMMEDIATE')
  sqlite.run('COMMIT')
}

/**
 * Runs a write transaction (see also `inDurableTransaction` and `groupCommit`). Commits when `work` returns, and is
 * then on the disk; rolls back if it throws. The type rejects promises, because Bun's SQLite commits as soon as the
 * callback returns, which would be too early.
 */
export function inTransaction<T>(db: Db, work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T): T {
  return keeping(db, () => db.orm.transaction((tx) => work(tx) as T, { behavior: 'immediate' }))
}

/**
 * Runs `commit`, but refuses first if the data might be lost: nobody may be told that it was stored. On a full disk a
 * write that tidies up is done again without the reserve.
 */
export function keeping<T>(db: Db, commit: () => T): T {
  refuseLoss(db)
  refuseWithoutRoom(db)
  const write = () => namingHolder(db.sqlite.filename, commit)
  try {
    return write()
  } catch (error) {
    if (isSyncFailure(error)) db.log.failure ??= error
    if (mayUseReserve(db, error)) return write()
    throw error
  } finally {
    db.writes += 1
    db.log.awaited += 1
  }
}

/** While the reserve is given up, the space is for tidying up alone. */
export function refuseWithoutRoom({ room, reserve }: Db): void {
  if (room === 'usual' && reserve.isSpent())
    throw new AppError('storage_full', "The server's disk is full. Nothing was changed.")
}

/**
 * Gives up the reserve if that can help, and lets the log begin anew, so that the space lasts for many writes. A part of a
 * larger transaction is not done again by itself.
 */
function mayUseReserve({ room, sqlite, reserve }: Db, error: unknown): boolean {
  if (room !== 'reserve' || !isDiskFull(error) || sqlite.inTransaction) return false
  const isReleased = reserve.release()
  return emptyLog(sqlite) || isReleased
}

/**
 * Writes to a file that lost its name are lost with the process; writes after a disk failure, with a power cut; writes that
 * the object store does not get, with the machine.
 */
export function refuseLoss(db: Db): void {
  refuseMoved(db.file)
  const refusal = db.log.refusal()
  if (refusal !== null) throw refusal
}

/** Whether this is a violation of a UNIQUE or PRIMARY KEY constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Runs a write, and turns a UNIQUE or PRIMARY KEY violation into 409 with this message: the name is taken. */
export function refuseTaken<T>(message: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('conflict', message)
    throw error
  }
}

/** Whether one of our triggers rejected the change with exactly this text. */
export function isRefusedBy(error: unknown, text: string): boolean {
  return sqliteCode(error) === 'SQLITE_CONSTRAINT_TRIGGER' && rootCause(error).message === text
}

/** Whether the disk is full, for the database, its log or the index of the log. */
export const isDiskFull = (error: unknown): boolean =>
  /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC)$/.test(sqliteCode(error) ?? '')

/**
 * Whether the disk failed, so that the outcome is unknown: the commit may be on the disk and reappear after a crash.
 */
export const isOutcomeUnknown = (error: unknown): boolean => /^SQLITE_IOERR/.test(sqliteCode(error) ?? '')

/** Whether earlier commits that did not wait for the disk may be lost, and with them everything after. */
const isSyncFailure = (error: unknown): boolean => /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(sqliteCode(error) ?? '')

function sqliteCode(error: unknown): string | undefined {
  const cause = rootCause(error)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

/** Unwraps SQLite's error from drizzle's. */
function rootCause(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error ? rootCause(error.cause) : error
}
