import { framesBefore, readWal, type WalBatch, type WalPosition } from '../../platform/wal/read.ts'
import { checkpointApart, logState } from '../checkpoint.ts'
import { connectAgain, type DatabaseFile } from '../database-file.ts'
import type { Db } from '../open.ts'
import type { Hold, Holds } from './holds.ts'
import type { LogFiles } from './log-files.ts'

/** What is in the store under a number, and where it ends in the log. */
export type Shipped = { number: number; batch: WalBatch; hold: Hold }

/** The end of a number in the log. */
type End = Pick<WalBatch, 'pageSize' | 'commit'> & { number: number; position: WalPosition; frames: number }

/** The database as of a number: the pages that the log has, before its file. `hold` is to be released. */
export type Snapshot = End & { pages: WalBatch['pages']; hold: Hold }

export type Told = {
  /** The file has everything up to this number, on the disk. */
  markShipped(number: number): void | Promise<void>
  failed(error: unknown): void
}

export type Due = {
  /** So many pages of the log are copied. */
  pages: number
  /** So many objects are, however few pages they have: a start after a crash reads each of them. */
  objects: number
}

/** So few frames are copied into the file in one turn. */
const FEW_PAGES = 500

/**
 * Copies the log into the file of the database and begins it anew, but never what is not in the store: a start takes the file for
 * a state that the store knows.
 */
export class Checkpoints {
  readonly #db: Db
  readonly #files: LogFiles
  readonly #holds: Holds
  readonly #told: Told
  /** As of the last number that is in the store, or before it. */
  #held: Hold
  #last: End | null = null
  /** Where the log has pages that the file may not have yet. */
  readonly #pages = new Map<number, number>()
  /** How many numbers the file is not known to have, and how many of them when it was tried last. */
  #objects = 0
  #triedAt = 0
  #running: Promise<void> | undefined

  readonly #due: Due

  constructor(db: Db, { files, holds, told, due }: { files: LogFiles; holds: Holds; told: Told; due: Due }) {
    this.#db = db
    this.#files = files
    this.#holds = holds
    this.#told = told
    this.#due = due
    this.#held = db.hold ?? holds.begin()
  }

  shipped({ number, batch, hold }: Shipped): void {
    const { pageSize, commit, next } = batch
    this.#held.release()
    this.#held = hold
    this.#last = { number, pageSize, commit, position: next, frames: framesBefore(next, pageSize) }
    for (const [page, offset] of batch.pages) this.#pages.set(page, offset)
    this.#objects += 1
  }

  snapshot(): Snapshot | null {
    if (this.#last === null) return null
    return { ...this.#last, pages: new Map(this.#pages), hold: this.#held.share() }
  }

  /** Does what is due, mostly nothing. */
  keep(): void {
    if (this.#running !== undefined || this.#last === null || this.#objects === 0) return
    const state = logState(this.#db.sqlite)
    if (state === null || !this.#db.file.isInPlace()) return
    const isFew = state.log - state.checkpointed <= FEW_PAGES
    if (state.log >= this.#due.pages && isFew && this.#beginAnew()) return
    const isDue =
      this.#last.frames - state.checkpointed >= this.#due.pages ||
      this.#objects - this.#triedAt >= this.#due.objects
    const snapshot = isDue ? this.snapshot() : null
    if (snapshot !== null) this.#run(() => this.#copy(snapshot).finally(() => snapshot.hold.release()))
  }

  /** Nothing is copied into the file any more when it resolves, unless more is kept. */
  async rest(): Promise<void> {
    await this.#running
  }

  /** Copies the rest, as far as it is in the store, and lets the database be closed: false if something is not. */
  async end(): Promise<boolean> {
    if (!this.#isShipped()) return false
    if (this.#objects > 0) this.#beginAnew()
    await this.#running
    this.#held.release()
    return true
  }

  #run(work: () => Promise<void>): void {
    this.#running = work()
      .catch((error) => this.#told.failed(error))
      .finally(() => {
        this.#running = undefined
      })
  }

  async #copy({ number, frames, position, pageSize, pages }: Snapshot): Promise<void> {
    const objects = this.#objects
    this.#triedAt = objects
    await checkpointApart(this.#db.file)
    // Somebody reads an older state.
    if ((logState(this.#db.sqlite)?.checkpointed ?? 0) < frames) return
    const later = readWal(this.#files.log, position)
    if (later !== null)
      for (const [page, offset] of pages)
        if (isLeftOut(page, later)) this.#files.copy(page, { offset, pageSize })
    await this.#mark(number, objects)
  }

  async #mark(number: number, objects: number): Promise<void> {
    await this.#files.syncDatabase()
    await this.#told.markShipped(number)
    this.#objects -= objects
    this.#triedAt = 0
  }

  #isShipped(): boolean {
    return readWal(this.#files.log, this.#last?.position ?? null) === null
  }

  /**
   * If everything is in the store: copies the rest of it, so that the next commit begins the log anew. Within one turn, and with
   * the lock of a writer, as other processes may write too.
   */
  #beginAnew(): boolean {
    if (this.#last === null || !this.#isShipped()) return false
    if (!whileNobodyWrites(this.#db.file, () => this.#copyRest())) return false
    const { number } = this.#last
    this.#pages.clear()
    this.#run(() => this.#mark(number, this.#objects))
    return true
  }

  #copyRest(): boolean {
    if (!this.#isShipped()) return false
    this.#held.release()
    try {
      const state = logState(this.#db.sqlite, 'PASSIVE')
      return state !== null && state.log === state.checkpointed
    } finally {
      this.#held = this.#holds.begin()
    }
  }
}

/**
 * SQLite copies no page that is newer later in the log, or lies behind the end of what is smaller by then: no reader needs it. The
 * file alone does.
 */
const isLeftOut = (page: number, later: WalBatch): boolean => later.pages.has(page) || page > later.smallest

/** False without the work if another process writes, or the file was moved. */
function whileNobodyWrites(file: DatabaseFile, work: () => boolean): boolean {
  if (!file.isInPlace()) return false
  const writer = connectAgain(file, { readwrite: true })
  try {
    writer.run('BEGIN IMMEDIATE')
  } catch {
    writer.close()
    return false
  }
  try {
    return work()
  } finally {
    writer.run('ROLLBACK')
    writer.close()
  }
}
