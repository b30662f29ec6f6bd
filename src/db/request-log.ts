import type { Log } from '../platform/log.ts'
import { isBusy, type LogsDb } from './logs-db.ts'
import type { LoggedRequest, Observed } from './request-log/row.ts'
import { RequestLogStore } from './request-log/store.ts'

/** Counts since the start. */
export type RequestCounts = {
  /** All requests by status. */
  statuses: Map<number, number>
  /** Requests whose rows were lost because the database could not be written. */
  dropped: number
  sizeBytes: number
  /** Response times in the buckets of `DURATION_BUCKETS_MS`, and one more for the rest. */
  durations: readonly number[]
  durationSumMs: number
}

export const DURATION_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/** This many requests at once, and this many per second continuously, are all recorded. */
const BURST = 2000
const SUSTAINED = 100
/** Above that, within the same second, every 8th is recorded, then every 64th, 512th and 4096th, with that weight. */
const STEPS = [
  { upTo: 25, weight: 8 },
  { upTo: 50, weight: 64 },
  { upTo: 75, weight: 512 },
] as const
const MAX_WEIGHT = 4096
const WINDOW_MS = 1000
/**
 * A commit writes several pages however few its rows are: at one request a second, a commit for each would write 20 KB.
 */
const FLUSH_MS = 5000
/** The interval while somebody watches the log. */
const FLUSH_WATCHED_MS = 200
/** Rows of one transaction: about a millisecond. */
const AT_ONCE = 200
const MAX_WAITING = 10_000

type Listener = (rows: readonly LoggedRequest[]) => void
type Observer = (rows: readonly Observed[]) => void

/**
 * Queues what the front door observes, and writes it soon, a few rows per turn. It costs each request one clock read
 * and one counter under any load. Rows that cannot be written are dropped and counted, never kept waiting.
 */
export class RequestLog {
  readonly #db: LogsDb
  readonly #log: Log
  readonly #store: RequestLogStore
  readonly #listeners = new Set<Listener>()
  #observer: Observer | undefined
  readonly #statuses = new Float64Array(1000)
  readonly #durations = new Float64Array(DURATION_BUCKETS_MS.length + 1)
  #durationSumMs = 0
  #sizeBytes = 0
  #dropped = 0
  #waiting: Observed[] = []
  #timer: Timer | undefined
  #isClosed = false
  #isFailing = false
  #windowStart = Number.NEGATIVE_INFINITY
  #left = BURST
  /** Rows of this second that stand for more than one request. */
  #sampled = 0
  #skip = 0

  /** With `keepsRows` false, requests are only counted. */
  constructor(options: { db: LogsDb; log: Log; keepsRows: boolean }) {
    this.#db = options.db
    this.#log = options.log
    this.#store = new RequestLogStore(options.db, options.keepsRows)
  }

  /** The database, for readers: call `flush` first. */
  get db(): LogsDb {
    return this.#db
  }

  /**
   * Counts a request that was answered, and returns how many requests its row would stand for; 0 if no row is needed.
   * `at` in ms of any monotonic clock.
   */
  weigh(status: number, at: number): number {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    if (at - this.#windowStart >= WINDOW_MS) this.#nextWindow(at)
    if (this.#skip > 0) {
      this.#skip -= 1
      return 0
    }
    const weight = this.#nextWeight()
    this.#skip = weight - 1
    return weight
  }

  take(row: Observed): void {
    this.#count(row)
    if (this.#isClosed || this.#waiting.length >= MAX_WAITING) {
      this.#dropped += row.weight
      return
    }
    this.#waiting.push(row)
    this.#writeSoon()
  }

  #writeSoon(): void {
    this.#timer ??= setTimeout(this.#drain, this.#listeners.size > 0 ? FLUSH_WATCHED_MS : FLUSH_MS).unref()
  }

  /** Counts a request whose row could not be built. */
  drop(weight: number): void {
    this.#dropped += weight
  }

  /** Rows of requests that another machine answered and counted: they are written here as well. */
  receive(rows: readonly Observed[]): void {
    const room = this.#isClosed ? 0 : MAX_WAITING - this.#waiting.length
    const taken = rows.slice(0, Math.max(0, room))
    for (const { weight } of rows.slice(taken.length)) this.drop(weight)
    // Before our own last row, whose weight may not be final.
    this.#waiting.unshift(...taken)
    if (taken.length === 0) return
    // They are late already, and others may bring as many.
    clearTimeout(this.#timer)
    this.#timer = setTimeout(this.#drain, 0).unref()
  }

  /** Passes what this machine itself observed on, some rows at once, as they are written. Returns a function that stops it. */
  handOver(observer: Observer): () => void {
    this.#observer = observer
    return () => {
      if (this.#observer === observer) this.#observer = undefined
    }
  }

  /** Writes all waiting rows: before somebody reads, and at the end. Never throws. */
  flush(): void {
    while (this.#waiting.length > 0 && this.#writeSome());
  }

  /** Passes each row to the listener once it is written. Returns a function that stops it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    // Cancels the long wait from before anybody watched, which would delay the first rows.
    clearTimeout(this.#timer)
    this.#timer = this.#waiting.length > 0 ? setTimeout(this.#drain, FLUSH_WATCHED_MS).unref() : undefined
    return () => void this.#listeners.delete(listener)
  }

  counts(): RequestCounts {
    return {
      statuses: new Map([...this.#statuses.entries()].filter(([, count]) => count > 0)),
      dropped: this.#dropped,
      sizeBytes: this.#sizeBytes,
      durations: [...this.#durations],
      durationSumMs: this.#durationSumMs,
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    this.flush()
    this.#isClosed = true
    this.#listeners.clear()
    this.#db.close()
  }

  /** Reduces the weight of the last row by the requests that it stood for but that did not come. */
  #nextWindow(at: number): void {
    const last = this.#waiting.at(-1)
    if (last !== undefined) last.weight = Math.max(1, last.weight - this.#skip)
    const seconds = (at - this.#windowStart) / WINDOW_MS
    this.#left = Math.min(BURST, this.#left + Math.floor(seconds * SUSTAINED))
    this.#windowStart = at
    this.#sampled = 0
    this.#skip = 0
  }

  #nextWeight(): number {
    if (this.#left > 0) {
      this.#left -= 1
      return 1
    }
    this.#sampled += 1
    return STEPS.find(({ upTo }) => this.#sampled <= upTo)?.weight ?? MAX_WEIGHT
  }

  #count({ durationMs, sizeBytes, weight }: Observed): void {
    const found = DURATION_BUCKETS_MS.findIndex((max) => durationMs <= max)
    const bucket = found === -1 ? DURATION_BUCKETS_MS.length : found
    this.#durations[bucket] = (this.#durations[bucket] ?? 0) + weight
    this.#durationSumMs += durationMs * weight
    this.#sizeBytes += (sizeBytes ?? 0) * weight
  }

  readonly #drain = (): void => {
    this.#timer = undefined
    if (this.#isClosed) return
    const isDone = this.#writeSome()
    if (this.#waiting.length === 0) return
    // Requests are served between two batches.
    this.#timer = setTimeout(this.#drain, isDone ? 0 : FLUSH_MS).unref()
  }

  /** False if somebody else has locked the database: the rows keep waiting. */
  #writeSome(): boolean {
    const rows = this.#waiting.splice(0, AT_ONCE)
    try {
      const written = this.#store.write(rows)
      this.#isFailing = false
      for (const listener of this.#listeners) listener(written)
    } catch (error) {
      if (isBusy(error)) {
        this.#waiting.unshift(...rows)
        return false
      }
      this.#dropped += rows.reduce((sum, { weight }) => sum + weight, 0)
      // Only once until it works again: a full disk must not fill the process log too.
      if (!this.#isFailing) this.#log.error('the request log could not be written', { error })
      this.#isFailing = true
    }
    this.#observer?.(rows)
    this.#db.checkpointWhenDue()
    return true
  }
}
