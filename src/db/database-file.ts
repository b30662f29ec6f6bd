import { constants, Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { AppError } from '../domain/errors.ts'

/** The file that a database has open, whatever its name leads to by now. */
export type DatabaseFile = {
  /** `:memory:` without a file. */
  readonly path: string
  readonly inode: bigint | undefined
  /** False if its name now leads to another file or to none: anything written then is lost on close. */
  isInPlace(): boolean
}

/** To be called while the name leads to the file that was just opened. */
export function watchFile(path: string): DatabaseFile {
  if (path === ':memory:') return { path, inode: undefined, isInPlace: () => true }
  const fileAt = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const opened = fileAt()
  return {
    path,
    inode: opened?.ino,
    isInPlace() {
      const found = fileAt()
      return found !== undefined && found.dev === opened?.dev && found.ino === opened?.ino
    },
  }
}

/**
 * Another connection to the same file. Throws `unavailable` if the name leads elsewhere by now: SQLite would take the log for that
 * of the other file, and delete it beside an empty one. Opening alone touches nothing.
 */
export function connectAgain(
  file: DatabaseFile,
  options: { readonly: true } | { readwrite: true },
): Database {
  refuseMoved(file)
  const sqlite = new Database(file.path, options)
  if (!hasMoved(sqlite) && file.isInPlace()) return sqlite
  sqlite.close()
  throw moved()
}

/** Throws unless the database is where it was opened. */
export function refuseMoved(file: DatabaseFile): void {
  if (!file.isInPlace()) throw moved()
}

/** Whether the name of what it has open leads elsewhere by now. */
function hasMoved(sqlite: Database): boolean {
  const answer = new BigInt64Array(1)
  sqlite.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, answer)
  return answer[0] !== 0n
}

const moved = (): AppError =>
  new AppError(
    'unavailable',
    'The database file was moved, replaced or removed while the server was using it, so nothing can be saved: put it back or restore a backup, then restart svc',
  )
