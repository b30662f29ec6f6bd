import { closeSync, fdatasync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { bytesAt } from '../../platform/ltx/of-wal.ts'

const syncData = promisify(fdatasync)
const PREFIX = 'log-'

/**
 * The files of an open database as they are read beside SQLite. The database's is kept open: the system drops all of a process's
 * locks on a file when it closes any descriptor of it.
 */
export class LogFiles {
  readonly log: number
  readonly database: number
  readonly #tmp: string
  #names = 0

  constructor(file: string) {
    this.log = openSync(`${file}-wal`, 'r')
    this.database = openSync(file, 'r+')
    this.#tmp = join(dirname(file), 'tmp')
    mkdirSync(this.#tmp, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(this.#tmp))
      if (name.startsWith(PREFIX)) rmSync(join(this.#tmp, name), { force: true })
  }

  newTmp(): string {
    this.#names += 1
    return join(this.#tmp, `${PREFIX}${this.#names}`)
  }

  /** Copies a page of the log into the file, for when SQLite does not. */
  copy(page: number, { offset, pageSize }: { offset: number; pageSize: number }): void {
    writeSync(this.database, bytesAt(this.log, offset, pageSize), 0, pageSize, (page - 1) * pageSize)
  }

  /** Puts what was copied into the database's file on the disk. */
  syncDatabase(): Promise<void> {
    return syncData(this.database)
  }

  /** Only when the database is closed. */
  close(): void {
    closeSync(this.log)
    closeSync(this.database)
  }
}
