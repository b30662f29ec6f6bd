import { messageOf } from '../../domain/errors.ts'
import { logKey } from '../../domain/store-keys.ts'
import type { Log } from '../../platform/log.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import { StoreError } from '../../platform/object-store.ts'
import { noteWriteOfOthers } from '../generation.ts'
import { inTurns } from '../log-sync.ts'
import type { Db } from '../open.ts'
import { type Fetched, fetchChange } from './fetch-change.ts'
import { FollowedFile } from './followed-file.ts'
import { FollowerMarker } from './follower-marker.ts'
import { LogError } from './log-error.ts'
import { readMarker } from './marker.ts'
import { PlaceInLog } from './place-in-log.ts'
import type { ShipperState } from './shipper.ts'
import { Waiters } from './waiters.ts'

export type FollowingOptions = {
  /** As `openFollowed` gave it. */
  db: Db
  file: string
  dataDir: string
  store: ObjectStore
  storeId: string
  /** What the file is at, exactly. */
  number: number
  pollMs: number
  log: Log
  /** The name of the last migration that this executable knows. */
  newestSchema: string
  /** Called after each application, with the number, in the turn in which it can be seen. */
  onApplied?: (number: number) => void
  /** Called when it cannot go on: see `LogError.isMended`. It looks now and then whether somebody has set it right. */
  onStuck?: (error: LogError) => void
}

export type Following = {
  /** Applied. */
  readonly number: number
  /** The log has a schema that this executable does not know: nothing is applied any more. */
  readonly isNewer: boolean
  /** The log has not yet all of the schema that this executable needs. */
  readonly isOlder: boolean
  state(): ShipperState
  /** Looks at once; resolves when that look has ended, whatever came of it. */
  look(): Promise<void>
  /** Resolves with true once the number is applied, with false after `ms` or where too many wait. */
  reached(number: number, ms: number): Promise<boolean>
  /** The file is whole and on the disk then, and its marker says so. */
  stop(): Promise<void>
}

/** Puts what a primary ships into the file of `db`, one whole transaction of the log after another. */
export const startFollowing = (options: FollowingOptions): Following => new LogFollower(options)

const SETTLE_MS = 1_000
const STUCK_LOOK_MS = 10_000
/** Those who read what they wrote are not to wait for the next look, and are not to cause one each. */
const WANTED_LOOK_MS = 100
const LOCKED_WAIT_MS = 10
/** A damaged object is fetched once again: it may have been damaged on its way. */
const TRIES = 2

class LogFollower implements Following {
  number: number
  isNewer = false
  isOlder = false
  readonly #options: FollowingOptions
  readonly #file: FollowedFile
  readonly #marker: FollowerMarker
  readonly #place: PlaceInLog
  readonly #waiters = new Waiters()
  readonly #stopping = new AbortController()
  readonly #turn = inTurns(() => this.#look())
  readonly #polls: ReturnType<typeof setInterval>
  #settling: ReturnType<typeof setTimeout> | undefined
  #seen: number
  #isLooking = false
  #lookedAt = Number.NEGATIVE_INFINITY
  /** By `performance.now()`: when the store was last known to have nothing that is not here. */
  #currentAt = performance.now()
  #isBehind = false
  #away: unknown
  #stuck: LogError | undefined

  constructor(options: FollowingOptions) {
    const { db, file, dataDir, store, storeId, number, pollMs } = options
    this.#options = options
    this.number = number
    const marker = readMarker(dataDir) ?? { store: storeId, number, seen: number, isWhole: false }
    this.#seen = Math.max(number, marker.seen)
    this.#marker = new FollowerMarker(dataDir, marker)
    this.#file = new FollowedFile(file)
    this.#place = new PlaceInLog(store, this.#stopping.signal)
    this.#readSchema(db)
    this.#polls = setInterval(() => this.#poll(), pollMs)
    this.#polls.unref()
    void this.#turn()
  }

  state(): ShipperState {
    const error = this.#stuck ?? this.#away
    const isCurrent = !this.#isBehind && this.#away === undefined && this.#stuck === undefined
    return {
      number: this.number,
      unshippedBytes: 0,
      lagMs: isCurrent ? 0 : Math.round(performance.now() - this.#currentAt),
      isStoreUp: this.#away === undefined,
      error: error === undefined ? null : messageOf(error),
    }
  }

  look(): Promise<void> {
    return this.#turn()
  }

  reached(number: number, ms: number): Promise<boolean> {
    if (this.number >= number) return Promise.resolve(true)
    if (!this.#isLooking && performance.now() - this.#lookedAt >= WANTED_LOOK_MS) void this.#turn()
    return this.#waiters.reached(number, ms)
  }

  async stop(): Promise<void> {
    clearInterval(this.#polls)
    clearTimeout(this.#settling)
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    this.#waiters.end()
    await this.#turn()
    try {
      if (this.#stuck?.kind !== 'torn') await this.#marker.settle(this.number, () => this.#file.sync())
    } finally {
      this.#file.close()
    }
  }

  #poll(): void {
    const isSlow = this.#stuck !== undefined && performance.now() - this.#lookedAt < STUCK_LOOK_MS
    if (!this.#isLooking && !isSlow) void this.#turn()
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#isLooking = true
    this.#lookedAt = performance.now()
    try {
      while (await this.#takeNext()) {}
      this.#succeeded()
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#failed(error)
    } finally {
      this.#isLooking = false
    }
  }

  /** False where there is nothing more to be done. */
  async #takeNext(): Promise<boolean> {
    await this.#place.require(this.number, this.#seen)
    const askedAt = performance.now()
    const change = await this.#fetch(this.number + 1)
    if (change === null) {
      this.#isBehind = false
      this.#currentAt = askedAt
      return false
    }
    this.#isBehind = true
    try {
      return !this.isNewer && (await this.#put(change))
    } finally {
      change.pages.discard()
    }
  }

  async #fetch(number: number): Promise<Fetched | null> {
    const { store, file } = this.#options
    const { pageSize } = this.#file
    const options = { store, spool: `${file}-object`, pageSize, signal: this.#stopping.signal }
    for (let tries = 1; ; tries += 1)
      try {
        return await fetchChange(number, options)
      } catch (error) {
        if (tries === TRIES || !(error instanceof LogError)) throw naming(number, error)
      }
  }

  async #put(change: Fetched): Promise<boolean> {
    const { signal } = this.#stopping
    this.#seen = Math.max(this.#seen, change.header.last)
    await this.#marker.touch(this.#seen)
    this.#settleSoon()
    // Somebody reads an older state, on another thread or in another process.
    for (; !signal.aborted && !this.#file.put(change); ) await Bun.sleep(LOCKED_WAIT_MS)
    if (signal.aborted) return false
    this.#applied(change)
    return !this.isNewer
  }

  /** In the same turn as the pages, so that nobody sees the one without the other. */
  #applied({ header, identity }: Fetched): void {
    const { db, onApplied } = this.#options
    this.number = header.last
    this.#place.moved(identity)
    noteWriteOfOthers(db)
    this.#readSchema(db)
    this.#waiters.applied(this.number)
    onApplied?.(this.number)
  }

  #readSchema({ sqlite }: Db): void {
    const { newestSchema, log } = this.#options
    const found =
      sqlite.query<{ name: string | null }, []>('SELECT max(name) AS name FROM schema_migrations').get()
        ?.name ?? ''
    this.isOlder = found < newestSchema
    if (found <= newestSchema || this.isNewer) return
    this.isNewer = true
    log.warn(
      'the workspace was changed by a newer svc: this machine follows no longer, until it has that version',
      {
        migration: found,
      },
    )
  }

  #settleSoon(): void {
    if (this.#settling !== undefined || this.#stopping.signal.aborted) return
    this.#settling = setTimeout(() => {
      this.#marker
        .settle(this.number, () => this.#file.sync())
        .catch((error) =>
          this.#options.log.warn('the copy of the database is not on the disk yet', { error }),
        )
        .finally(() => {
          this.#settling = undefined
        })
    }, SETTLE_MS)
    this.#settling.unref()
  }

  #succeeded(): void {
    const { log } = this.#options
    if (this.#away !== undefined) log.info('the object store can be read again', { number: this.number })
    if (this.#stuck !== undefined) log.info('the log goes on', { number: this.number })
    this.#away = undefined
    this.#stuck = undefined
  }

  #failed(error: unknown): void {
    this.#place.doubt()
    if (!(error instanceof LogError)) {
      if (this.#away === undefined)
        this.#options.log.error('the log cannot be followed: what is shown here may be old', { error })
      this.#away = error ?? new Error('the object store failed')
      return
    }
    const isKnown = this.#stuck?.message === error.message
    this.#away = undefined
    this.#stuck = error
    if (isKnown) return
    this.#options.log.error('the log cannot be followed any more', { error })
    this.#options.onStuck?.(error)
  }
}

/** An error of the store says what happened, and not to which object. */
const naming = (number: number, error: unknown): unknown =>
  error instanceof StoreError && !error.isSetting
    ? new StoreError(error.kind, `"${logKey(number)}": ${error.message}`, { code: error.code, cause: error })
    : error
