import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { DataDirError } from '../domain/data-dir-error.ts'
import { AppError } from '../domain/errors.ts'
import { type LogSync, noLogSync, openLogSync } from './log-sync.ts'
import { type MigrationGuards, migrate } from './migrate.ts'

/** The database: drizzle for queries, the raw handle for prepared statements on hot paths, and when it was last written. */
export type Db = {
  readonly orm: Orm
  sqlite: Database
  /** False when its path leads to another file by now, or to none: what is written then is lost when it is closed. */
  isInPlace: () => boolean
  /** Brings onto the disk what was committed without waiting for it. */
  readonly log: LogSync
  /** Grows with each transaction of this process (and when another process was seen to write): what is cached may be stale. */
  writes: number
  close: () => void
}
export type Orm = BunSQLiteDatabase
/** What queries take: the database or the transaction that is open on it. */
export type DbOrTx = Pick<
  Orm,
  'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'all' | 'get' | 'run' | 'values' | '$count'
>

/**
 * Opens (and migrates) the database at `path`, or one in memory for `:memory:`. `guards` as for `migrate`.
 * Throws `DataDirError`.
 */
export function openDb(path: string, now: number, guards?: MigrationGuards): Db {
  const sqlite = openFile(path)
  sqlite.run('PRAGMA synchronous = FULL')
  sqlite.run('PRAGMA foreign_keys = ON')
  sqlite.run('PRAGMA busy_timeout = 10000')
  sqlite.run('PRAGMA temp_store = MEMORY')
  sqlite.run('PRAGMA cache_size = -16000')
  // No commit copies its pages into the file as well: a server has that done apart (`keepCheckpointed`). Where nobody does,
  // or writes come so fast that it never catches up, the log begins anew from 64 MB on.
  sqlite.run('PRAGMA wal_autocheckpoint = 16000')
  // What one large commit, or a long read beside it, made of the log is given back.
  sqlite.run('PRAGMA journal_size_limit = 67108864')
  try {
    migrate(sqlite, now, undefined, guards)
  } catch (error) {
    sqlite.close()
    throw error
  }
  const log = path === ':memory:' ? noLogSync() : openLogSync(`${path}-wal`)
  return withOrm(sqlite, watchFile(path), log)
}

/** drizzle takes 5 ms to load, which the first file after a start need not wait for: it comes with its first use. */
function withOrm(sqlite: Database, isInPlace: () => boolean, log: LogSync): Db {
  let orm: Orm | undefined
  return {
    get orm() {
      orm ??= (require('./orm.ts') as typeof import('./orm.ts')).createOrm(sqlite)
      return orm
    },
    sqlite,
    isInPlace,
    log,
    writes: 0,
    close() {
      sqlite.close()
      log.close()
    },
  }
}

function watchFile(path: string): () => boolean {
  if (path === ':memory:') return () => true
  const fileAt = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const opened = fileAt()
  return () => {
    const found = fileAt()
    return found !== undefined && found.dev === opened?.dev && found.ino === opened?.ino
  }
}

function openFile(path: string): Database {
  try {
    const sqlite = new Database(path, { create: true, strict: true })
    sqlite.run('PRAGMA journal_mode = WAL')
    return sqlite
  } catch (error) {
    throw new DataDirError(`${path} cannot be opened as the database: ${rootCause(error).message}`, {
      cause: error,
      // A file that is another user's or cannot be written is whole all the same.
      damaged: /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(sqliteCode(error) ?? '') ? 'database' : undefined,
    })
  }
}

/**
 * The way to write, with `inDurableTransaction` and `groupCommit`. Commits when `work` returns, and is on the disk then;
 * rolls back when it throws. Bun's SQLite commits when the callback returns, so a promise would commit too early: the type
 * refuses one.
 */
export function inTransaction<T>(db: Db, work: (tx: DbOrTx) => T extends Promise<unknown> ? never : T): T {
  return keeping(db, () => db.orm.transaction((tx) => work(tx) as T, { behavior: 'immediate' }))
}

/** What `commit` does, which is refused where it might not last: nobody is to be told that it was kept then. */
export function keeping<T>(db: Db, commit: () => T): T {
  refuseLoss(db)
  try {
    return commit()
  } catch (error) {
    if (isSyncFailure(error)) db.log.failure ??= error
    throw error
  } finally {
    db.writes += 1
  }
}

/** What is written to a file that lost its name is gone with the process; after a failure of the disk, with the power. */
export function refuseLoss({ isInPlace, log }: Db): void {
  if (!isInPlace())
    throw new AppError(
      'unavailable',
      'The database file was moved, replaced or removed while the server uses it, so nothing can be kept: put it back, or restore a backup, and start svc again',
    )
  if (log.failure !== undefined)
    throw new AppError(
      'unavailable',
      'The disk failed while the database was written, so nothing more is sure to be kept: look at the disk, and start svc again',
    )
}

/** True for the violation of a UNIQUE or PRIMARY KEY constraint. */
export function isUniqueViolation(error: unknown): boolean {
  const code = sqliteCode(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Writes. Where a UNIQUE or PRIMARY KEY constraint refuses it, that is 409 with the message: what was asked for is taken. */
export function refuseTaken<T>(message: string, write: () => T): T {
  try {
    return write()
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('conflict', message)
    throw error
  }
}

/** True when a trigger of ours refused the change with exactly this text. */
export function isRefusedBy(error: unknown, text: string): boolean {
  return sqliteCode(error) === 'SQLITE_CONSTRAINT_TRIGGER' && rootCause(error).message === text
}

/** True when the disk is full, for the database as for its log. */
export const isDiskFull = (error: unknown): boolean => sqliteCode(error) === 'SQLITE_FULL'

/** True when the disk failed: what was to be committed may be on it or not, and after a crash it may be there. */
export const isOutcomeUnknown = (error: unknown): boolean => /^SQLITE_IOERR/.test(sqliteCode(error) ?? '')

/** True when what was committed before without waiting for the disk may be lost with it, and what follows it too. */
const isSyncFailure = (error: unknown): boolean => /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(sqliteCode(error) ?? '')

function sqliteCode(error: unknown): string | undefined {
  const cause = rootCause(error)
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
}

/** drizzle wraps what SQLite threw. */
function rootCause(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error))
  return error.cause instanceof Error ? rootCause(error.cause) : error
}
