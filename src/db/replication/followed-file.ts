import { Database } from 'bun:sqlite'
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { DataDirError } from '../../domain/data-dir-error.ts'
import type { LtxHeader } from '../../platform/ltx/format.ts'
import { changesOf, markChanged, pageSizeOf } from './file-header.ts'
import { torn } from './log-error.ts'
import type { PageSpool } from './page-spool.ts'

const syncData = promisify(fdatasync)
const HALF_OF_NUMBERS = 2 ** 31

/** An object of the log that is known to be good. */
export type Change = { header: LtxHeader; pages: PageSpool }

/**
 * A database file without a log that others read while whole transactions are put into it. The file stays open: the system drops
 * all of a process's locks on a file when it closes any descriptor of it.
 */
export class FollowedFile {
  readonly pageSize: number
  readonly #path: string
  readonly #fd: number
  readonly #locker: Database

  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, 'r+')
    const pageSize = pageSizeOf(this.#fd)
    if (pageSize === null) {
      closeSync(this.#fd)
      throw new DataDirError(`${path} is not a database`, { damaged: 'database' })
    }
    this.pageSize = pageSize
    this.#locker = new Database(path, { readwrite: true })
    this.#locker.run('PRAGMA busy_timeout = 0')
    this.#locker.run('PRAGMA cache_size = 10')
  }

  /**
   * Puts it in within this turn, while nobody reads. False without having done anything if somebody reads an older state; a full
   * disk changes nothing either.
   */
  put(change: Change): boolean {
    if (!this.#lock()) return false
    try {
      this.#write(change)
    } finally {
      this.#locker.run('ROLLBACK')
    }
    return true
  }

  sync(): Promise<void> {
    return syncData(this.#fd)
  }

  close(): void {
    this.#locker.close()
    closeSync(this.#fd)
  }

  #lock(): boolean {
    try {
      this.#locker.run('BEGIN EXCLUSIVE')
      return true
    } catch (error) {
      if (error instanceof Error && 'code' in error && /^SQLITE_BUSY/.test(String(error.code))) return false
      throw error
    }
  }

  #write({ header: { commit }, pages }: Change): void {
    const before = Math.floor(fstatSync(this.#fd).size / this.pageSize)
    const changes = (changesOf(this.#fd) + 1) % HALF_OF_NUMBERS
    this.#grow(pages, before, commit)
    try {
      pages.writeTo(this.#fd, 1, Math.min(before, commit))
      ftruncateSync(this.#fd, commit * this.pageSize)
      markChanged(this.#fd, { changes, pages: commit })
    } catch (error) {
      throw torn(this.#path, error)
    }
  }

  /** What needs space comes first, where no reader sees it yet. */
  #grow(pages: PageSpool, before: number, commit: number): void {
    if (commit <= before) return
    try {
      pages.writeTo(this.#fd, before + 1, commit)
    } catch (error) {
      ftruncateSync(this.#fd, before * this.pageSize)
      throw error
    }
  }
}
