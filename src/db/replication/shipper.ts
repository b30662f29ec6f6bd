import { type AppError, messageOf } from '../../domain/errors.ts'
import { notPrimary, storeUnreachable } from '../../domain/store-errors.ts'
import { BASE_FOLDER, baseKey, logKey, numberOfBase } from '../../domain/store-keys.ts'
import type { Log } from '../../platform/log.ts'
import { allPages, changedPages, headerOf } from '../../platform/ltx/of-wal.ts'
import type { Created, ObjectStore, StoreCall } from '../../platform/object-store.ts'
import { bytesAfter, hasMore, readWal, type WalPosition } from '../../platform/wal/read.ts'
import { DUE_PAGES, logState } from '../checkpoint.ts'
import { diskFailed, inTurns, type LogSync } from '../log-sync.ts'
import type { Db } from '../open.ts'
import { Awaited } from './awaited.ts'
import { Bases } from './bases.ts'
import { ltxBody, type ObjectBody } from './body.ts'
import { Checkpoints, type Due, type Shipped } from './checkpoints.ts'
import { Holds } from './holds.ts'
import { LogFiles } from './log-files.ts'

export type ShippingOptions = {
  store: ObjectStore
  /** The end of the log: what the database has without its own log. */
  number: number
  epoch: number
  now: () => number
  log: Log
  /** The database's file has everything up to this number, on the disk. */
  markShipped(number: number): void | Promise<void>
  /** Called once: another machine created the next number. Nothing is shipped any more. */
  onDeposed(): void
  /** Whether a base is due at once: the schema was migrated. */
  wantsBase?: boolean
  /** When the log is copied into the file, and a base is made. */
  due?: Partial<Due & { baseBytes: number }>
}

export type ShipperState = {
  number: number
  unshippedBytes: number
  /** How long the oldest commit that is not in the store waits. */
  lagMs: number
  isStoreUp: boolean
  /** Why the store did not take the last object. */
  error: string | null
}

export type Shipper = LogSync & {
  /** The last one that is in the store. */
  readonly number: number
  state(): ShipperState
  /** Nothing more goes out until what is returned is called. Changes wait. */
  hold(): () => void
  /** Ships what is left, and makes the file of the database whole. Call it before the database is closed. */
  stop(): Promise<void>
}

const DUE = { pages: DUE_PAGES, objects: 500, baseBytes: 64 * 2 ** 20 }
/** What nobody waits for goes out within two of these. */
const TICK_MS = 400
const RETRY_MS = 1_000
const BASE_RETRY_MS = 60_000
/**
 * A store takes no request that was signed 15 minutes before or after by its own clock, so no more than 35 of its minutes are
 * between two that are this far apart by ours, and what is removed as old is 45 minutes old at least.
 */
const PROVEN_MS = 5 * 60_000
/** A stopping server has no more time for a store that does not answer. */
const STOP_MS = 2_000

/**
 * From now on what is committed is durable when it is in the store. Open the database with `isShipped`, and when its file is what
 * the store has under `number`.
 */
export function startShipping(db: Db, options: ShippingOptions): Shipper {
  const shipper = new LogShipper(db, options)
  db.sqlite.run('PRAGMA wal_autocheckpoint = 0')
  // A start makes the file anew from what the store has.
  db.sqlite.run('PRAGMA synchronous = OFF')
  db.log.close()
  db.log = shipper
  return shipper
}

const afterBase = (number: number): string => (number === 0 ? BASE_FOLDER : baseKey(number))

/** What was read under the next number, and is sent until it is known to be there: never again with other bytes. */
type Batch = Shipped & { body: ObjectBody | null }

class LogShipper implements Shipper {
  failure: unknown
  readonly isOfDisk = false
  number: number
  readonly #awaited: Awaited
  readonly #db: Db
  readonly #options: ShippingOptions
  readonly #files: LogFiles
  readonly #holds: Holds
  readonly #checkpoints: Checkpoints
  readonly #bases: Bases
  readonly #turn = inTurns(() => this.#ship())
  readonly #stopping = new AbortController()
  readonly #ticks: ReturnType<typeof setInterval>
  #retry: ReturnType<typeof setTimeout> | undefined
  #position: WalPosition | null = null
  #batch: Batch | null = null
  #sending: Promise<void> | null = null
  #away: unknown
  #mayTry = true
  #isDeposed = false
  #isWhole = false
  #waitsSince: number | null = null
  #held: Promise<void> | undefined
  #making: Promise<void> | undefined
  #baseAfter = 0
  /** By the wall clock: when the last number was surely the end of the log. */
  #provenAt = Number.NEGATIVE_INFINITY

  constructor(db: Db, options: ShippingOptions) {
    this.#db = db
    this.#options = options
    this.#awaited = new Awaited(db.log.awaited)
    this.failure = db.log.failure
    this.number = options.number
    this.#files = new LogFiles(db.sqlite.filename)
    this.#holds = new Holds(db.file)
    const due = { ...DUE, ...options.due }
    this.#checkpoints = new Checkpoints(db, {
      files: this.#files,
      holds: this.#holds,
      told: {
        markShipped: (number) => options.markShipped(number),
        failed: (error) => options.log.error('the log was not copied into the database', { error }),
      },
      due,
    })
    const { store, epoch, now, wantsBase = false } = options
    const signal = this.#stopping.signal
    const bases = { store, epoch, now, files: this.#files, signal, isDue: wantsBase }
    this.#bases = new Bases({ ...bases, dueBytes: due.baseBytes })
    this.#apart(() => this.#bases.count(options.number))
    this.#ticks = setInterval(() => this.#tick(), TICK_MS)
    this.#ticks.unref()
  }

  get awaited(): number {
    return this.#awaited.count
  }

  set awaited(count: number) {
    this.#awaited.count = count
  }

  sync(): Promise<void> {
    if (this.#isDeposed) return Promise.reject(notPrimary())
    if (this.failure !== undefined) return Promise.reject(this.failure)
    const isTaken = !hasMore(this.#files.log, this.#batch?.batch.next ?? this.#position)
    if (isTaken && this.#batch === null) return Promise.resolve()
    if (this.#away !== undefined) return Promise.reject(storeUnreachable(true))
    this.#waitsSince ??= performance.now()
    if (this.#sending === null) return this.#turn()
    return isTaken ? this.#sending : this.#noLonger(this.#turn())
  }

  refusal(): AppError | null {
    if (this.#isDeposed) return notPrimary()
    if (this.failure !== undefined) return diskFailed()
    return this.#away === undefined ? null : storeUnreachable(false)
  }

  state(): ShipperState {
    const { number, failure } = this
    const error = this.#away ?? failure
    return {
      number,
      unshippedBytes: this.#unshippedBytes(),
      lagMs: this.#waitsSince === null ? 0 : Math.round(performance.now() - this.#waitsSince),
      isStoreUp: this.#away === undefined,
      error: error === undefined ? null : messageOf(error),
    }
  }

  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = undefined
      resolve()
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#ticks)
    clearTimeout(this.#retry)
    const giveUp = setTimeout(() => this.#stopping.abort(), STOP_MS)
    await this.sync().catch(() => {})
    clearTimeout(giveUp)
    this.#stopping.abort()
    await this.#making
    await this.#checkpoints.rest()
    this.#isWhole = !this.#isDeposed && this.#batch === null && (await this.#checkpoints.end())
    this.#holds.close()
  }

  /** With an unshipped rest the hold stays, as the last connection that closes would copy it into the file. */
  close(): void {
    clearInterval(this.#ticks)
    clearTimeout(this.#retry)
    this.#stopping.abort()
    if (this.#isWhole) this.#files.close()
    this.#isWhole = false
  }

  /** Who waits for the next object waits for the one on its way too. What was written is sent nevertheless. */
  #noLonger(turn: Promise<void>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(storeUnreachable(true)), this.#options.store.timeoutMs)
    turn.then(resolve, reject).finally(() => clearTimeout(timer))
    return promise
  }

  #tick(): void {
    if (this.#isDeposed || this.#away !== undefined) return
    if (hasMore(this.#files.log, this.#position)) void this.sync().catch(() => {})
    this.#checkpoints.keep()
    this.#makeBase()
  }

  /** One turn: what is committed by now. */
  async #ship(): Promise<void> {
    // Without a wait: what is committed by now is a batch.
    if (this.#held !== undefined) await this.#held
    const mayTry = this.#away === undefined || this.#mayTry
    this.#mayTry = false
    if (this.#isDeposed) throw notPrimary()
    if (!mayTry) throw storeUnreachable(true)
    if (this.#batch !== null) await this.#send(this.#batch)
    if (this.#held !== undefined) await this.#held
    const batch = this.#take()
    if (batch !== null) await this.#send(batch)
  }

  #take(): Batch | null {
    if (!hasMore(this.#files.log, this.#position)) return null
    // It begins before the reading ends, so that it holds nothing that was not read.
    const hold = this.#holds.begin()
    const batch = readWal(this.#files.log, this.#position)
    if (batch !== null) return { number: this.number + 1, batch, hold, body: null }
    hold.release()
    return null
  }

  #send(batch: Batch): Promise<void> {
    this.#batch = batch
    this.#sending = this.#create(batch).finally(() => {
      this.#sending = null
    })
    return this.#sending
  }

  async #create(batch: Batch): Promise<void> {
    const created = await this.#tryToCreate(batch).catch((error) => {
      this.#lose(error)
      throw storeUnreachable(true)
    })
    this.#batch = null
    if (created.outcome === 'created') return this.#shipped(batch)
    this.#depose(created.epoch)
    throw notPrimary()
  }

  async #tryToCreate(batch: Batch): Promise<Created> {
    const { store, epoch } = this.#options
    batch.body ??= await this.#bodyOf(batch)
    const call = { epoch, signal: this.#stopping.signal, ...(this.#away !== undefined && { patienceMs: 0 }) }
    const askedAt = this.#options.now()
    const created = await store.create(logKey(batch.number), batch.body.body, call)
    await batch.body.discard()
    if (created.outcome === 'created' && !(await this.#isAtEnd(batch.number, call)))
      return { outcome: 'exists', writer: null, epoch: null }
    this.#provenAt = askedAt
    return created
  }

  /**
   * A machine that stood still for an hour may create again what others had created and removed as old. Where that can be, the
   * bases say so: what was removed lies before one of them, and none is made of what is not in the log.
   */
  async #isAtEnd(number: number, call: StoreCall): Promise<boolean> {
    const { store, now } = this.#options
    if (Math.abs(now() - this.#provenAt) < PROVEN_MS) return true
    for await (const { key } of store.list(BASE_FOLDER, { ...call, after: afterBase(number - 1) }))
      if (numberOfBase(key) !== null) return false
    return true
  }

  #bodyOf({ number, batch }: Batch): Promise<ObjectBody> {
    const header = headerOf(batch, { number, timestamp: this.#options.now() })
    const isFirst = number === 1
    const pages = isFirst ? allPages(this.#files, batch) : changedPages(this.#files.log, batch)
    const count = isFirst ? batch.commit : batch.pages.size
    return ltxBody(header, pages, { count, file: this.#files.newTmp() })
  }

  #shipped(batch: Batch): void {
    this.number = batch.number
    this.#position = batch.batch.next
    this.#checkpoints.shipped(batch)
    this.#bases.shipped(batch.body?.sizeBytes ?? 0)
    this.#waitsSince = hasMore(this.#files.log, this.#position) ? performance.now() : null
    if (this.#away !== undefined)
      this.#options.log.info('the object store takes the log again', { number: this.number })
    this.#away = undefined
    this.#checkpoints.keep()
  }

  #lose(error: unknown): void {
    if (this.#away === undefined && !this.#stopping.signal.aborted)
      this.#options.log.error(
        'the object store does not take the log: nothing can be changed until it does',
        {
          error,
        },
      )
    this.#away = error ?? new Error('the object store failed')
    this.#retry = setTimeout(() => {
      this.#mayTry = true
      void this.#turn().catch(() => {})
    }, RETRY_MS)
    this.#retry.unref()
  }

  #depose(epoch: number | null): void {
    this.#isDeposed = true
    clearInterval(this.#ticks)
    this.#stopping.abort()
    this.#options.log.warn('another machine is the primary now: nothing more is shipped', {
      number: this.number + 1,
      epoch,
    })
    this.#options.onDeposed()
  }

  #makeBase(): void {
    if (this.#making !== undefined || !this.#bases.isDue() || performance.now() < this.#baseAfter) return
    const snapshot = this.#checkpoints.snapshot()
    if (snapshot === null) return
    this.#apart(() => this.#bases.make(snapshot, () => snapshot.hold.release()))
  }

  /** Work on bases, one at a time. */
  #apart(work: () => Promise<void>): void {
    this.#making = work()
      .catch((error) => this.#baseFailed(error))
      .finally(() => {
        this.#making = undefined
      })
  }

  #baseFailed(error: unknown): void {
    this.#baseAfter = performance.now() + BASE_RETRY_MS
    if (this.#stopping.signal.aborted) return
    this.#options.log.warn('the object store has no new base of the database yet', { error })
  }

  /** As SQLite counts it, without reading it. */
  #unshippedBytes(): number {
    if (!hasMore(this.#files.log, this.#position)) return 0
    const state = logState(this.#db.sqlite)
    return state === null ? 0 : bytesAfter(this.#files.log, this.#position, state.log)
  }
}
