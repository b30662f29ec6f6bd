import { Database } from 'bun:sqlite'
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { DataDirError } from '../../domain/data-dir-error.ts'
import type { LtxHeader } from '../../platform/ltx/format.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import { changesOf, markChanged, pageSizeOf } from './file-header.ts'
import { torn } from './log-error.ts'
import { MAX_RUN_BYTES, type PageSpool, type Run, writeWhole } from './page-spool.ts'

const syncData = promisify(fdatasync)
const NUMBERS = 2 ** 32
const LOCKED_WAIT_MS = 10
/** Between two turns of others. */
const SLICE_BYTES = 2 ** 20
/** Less is written in no time. */
const WARM_BYTES = 4 * 2 ** 20

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
   * Puts it in within one turn, while nobody reads, and calls `done` in that turn. False if it was stopped before. A full disk
   * changes nothing.
   */
  async put(change: Change, done: () => void, stop: { readonly aborted: boolean }): Promise<boolean> {
    const before = this.#size()
    try {
      await this.#grow(change, before)
      if (change.pages.sizeBytes > WARM_BYTES) await this.#warm(change, before)
      // Somebody reads an older state, on another thread or in another process.
      while (!stop.aborted && !this.#lock()) await Bun.sleep(LOCKED_WAIT_MS)
    } catch (error) {
      this.#shrink(before)
      throw error
    }
    if (stop.aborted) {
      this.#shrink(before)
      return false
    }
    try {
      this.#overwrite(change, before)
    } finally {
      this.#locker.run('ROLLBACK')
    }
    done()
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

  #size(): number {
    return Math.floor(fstatSync(this.#fd).size / this.pageSize)
  }

  /** What needs space comes first, behind the end that readers know of. */
  async #grow({ header: { commit }, pages }: Change, before: number): Promise<void> {
    for await (const { bytes, position } of inSlices(pages.runs(before + 1, commit)))
      writeWhole(this.#fd, bytes, position)
  }

  /** Writing is much faster where the system has in memory what is written over. */
  async #warm({ header: { commit }, pages }: Change, before: number): Promise<void> {
    const scratch = new Uint8Array(MAX_RUN_BYTES)
    for await (const { bytes, position } of inSlices(pages.runs(1, Math.min(before, commit))))
      readSync(this.#fd, scratch, 0, bytes.length, position)
  }

  #shrink(pages: number): void {
    ftruncateSync(this.#fd, pages * this.pageSize)
  }

  #overwrite({ header: { commit }, pages }: Change, before: number): void {
    try {
      const changes = (changesOf(this.#fd) + 1) % NUMBERS
      for (const { bytes, position } of pages.runs(1, Math.min(before, commit)))
        writeWhole(this.#fd, bytes, position)
      this.#shrink(commit)
      markChanged(this.#fd, { changes, pages: commit })
    } catch (error) {
      throw torn(this.#path, error)
    }
  }
}

async function* inSlices(runs: Iterable<Run>): AsyncGenerator<Run> {
  let left = SLICE_BYTES
  for (const run of runs) {
    yield run
    left -= run.bytes.length
    if (left > 0) continue
    left = SLICE_BYTES
    await nextTurn()
  }
}
