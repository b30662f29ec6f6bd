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
  /** By `performance.now()`: when the store was last known to have nothing that is not here. */
  readonly currentAt: number
  state(): ShipperState
  /** Looks at once; resolves when that look has ended, whatever came of it. */
  look(): Promise<void>
  /** Resolves with true once the number is applied, with false after `ms` or where too many wait. */
  reached(number: number, ms: number): Promise<boolean>
  /** The file is whole and on the disk then, and its marker says so. */
  stop(): Promise<void>
}

const NEWER =
  'the workspace was changed by a newer svc: this machine follows no longer, until it has that version'

/** Puts what a primary ships into the file of `db`, one whole transaction of the log after another. */
export const startFollowing = (options: FollowingOptions): Following => new LogFollower(options)

const STUCK_LOOK_MS = 10_000
/** Those who read what they wrote are not to wait for the next look, and are not to cause one each. */
const WANTED_LOOK_MS = 100
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
  #seen: number
  #isLooking = false
  #lookedAt = Number.NEGATIVE_INFINITY
  currentAt = performance.now()
  #isBehind = false
  /** Of the last look. */
  #failure: unknown

  constructor(options: FollowingOptions) {
    const { db, file, dataDir, store, storeId, number, pollMs, log } = options
    this.#options = options
    this.number = number
    const marker = readMarker(dataDir) ?? { store: storeId, number, seen: number, isWhole: false }
    this.#seen = Math.max(number, marker.seen)
    this.#file = new FollowedFile(file)
    this.#marker = new FollowerMarker({
      dataDir,
      marker,
      number: () => this.number,
      sync: () => this.#file.sync(),
      failed: (error) => log.warn('the copy of the database is not on the disk yet', { error }),
    })
    this.#place = new PlaceInLog(store, this.#stopping.signal)
    this.#readSchema(db)
    this.#polls = setInterval(() => this.#poll(), pollMs)
    this.#polls.unref()
    void this.#turn()
  }

  state(): ShipperState {
    const error = this.#failure
    const isCurrent = !this.#isBehind && error === undefined
    return {
      number: this.number,
      unshippedBytes: 0,
      lagMs: isCurrent ? 0 : Math.round(performance.now() - this.currentAt),
      isStoreUp: !(error instanceof StoreError),
      error: this.isNewer ? NEWER : error === undefined ? null : messageOf(error),
    }
  }

  look(): Promise<void> {
    return this.#turn()
  }

  reached(number: number, ms: number): Promise<boolean> {
    if (this.number >= number) return Promise.resolve(true)
    const isGood = this.#failure === undefined && !this.#isLooking
    if (isGood && performance.now() - this.#lookedAt >= WANTED_LOOK_MS) void this.#turn()
    return this.#waiters.reached(number, ms)
  }

  async stop(): Promise<void> {
    clearInterval(this.#polls)
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    this.#waiters.end()
    await this.#turn()
    try {
      await this.#marker.end()
    } finally {
      this.#file.close()
    }
  }

  #poll(): void {
    const isSlow = this.#failure instanceof LogError && performance.now() - this.#lookedAt < STUCK_LOOK_MS
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
    const change = this.isNewer ? await this.#seeNext() : await this.#fetch(this.number + 1)
    this.#isBehind = change !== null
    if (!this.#isBehind) this.currentAt = askedAt
    if (change === null || change === 'not for us') return false
    try {
      return await this.#put(change)
    } finally {
      change.pages.discard()
    }
  }

  async #seeNext(): Promise<'not for us' | null> {
    const call = { patienceMs: 0, signal: this.#stopping.signal }
    const found = await this.#options.store.head(logKey(this.number + 1), call)
    return found === null ? null : 'not for us'
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
    this.#seen = Math.max(this.#seen, change.header.last)
    await this.#marker.touch(this.#seen)
    const isPut = await this.#file.put(change, () => this.#applied(change), this.#stopping.signal)
    this.#marker.touched()
    return isPut && !this.isNewer
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
    log.warn(NEWER, { migration: found })
  }

  #succeeded(): void {
    if (this.#failure !== undefined)
      this.#options.log.info('the log is followed again', { number: this.number })
    this.#failure = undefined
  }

  #failed(error: unknown): void {
    const { log, onStuck } = this.#options
    const before = this.#failure
    this.#failure = error ?? new Error('the object store failed')
    this.#place.doubt()
    if (error instanceof LogError) {
      if (before instanceof LogError && before.message === error.message) return
      log.error('the log cannot be followed any more', { error })
      onStuck?.(error)
    } else if (before === undefined)
      log.error('the log cannot be followed now: what is shown here may be old', { error })
  }
}

/** An error of the store says what happened, and not to which object. */
const naming = (number: number, error: unknown): unknown =>
  error instanceof StoreError && !error.isSetting
    ? new StoreError(error.kind, `"${logKey(number)}": ${error.message}`, { code: error.code, cause: error })
    : error
