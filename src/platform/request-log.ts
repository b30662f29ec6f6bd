import { isBusy, type LogsDb } from '../db/logs-db.ts'
import type { Log } from './log.ts'
import type { LoggedRequest, Observed } from './request-log/row.ts'
import { RequestLogStore } from './request-log/store.ts'

/** Since the start. */
export type RequestCounts = {
  /** By status; every request. */
  statuses: Map<number, number>
  /** Seen, but lost as the database could not be written. */
  dropped: number
  sizeBytes: number
  /** How long the answers took, in the buckets of `DURATION_BUCKETS_MS` and one for the rest. */
  durations: readonly number[]
  durationSumMs: number
}

export const DURATION_BUCKETS_MS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/** So many requests may come at once and are each recorded, and so many a second for as long as they like. */
const BURST = 2000
const SUSTAINED = 100
/** Of more, in the same second, every 8th is, then every 64th, 512th and 4096th, and stands for as many. */
const STEPS = [
  { upTo: 25, weight: 8 },
  { upTo: 50, weight: 64 },
  { upTo: 75, weight: 512 },
] as const
const MOST_WEIGHT = 4096
const WINDOW_MS = 1000
/** A commit writes some pages however few its rows are: where a request comes a second, each would cost 20 KB of the disk. */
const FLUSH_MS = 5000
/** While somebody watches the log. */
const FLUSH_WATCHED_MS = 200
/** Rows of one transaction: about a millisecond. */
const AT_ONCE = 200
const MOST_WAITING = 10_000

type Listener = (rows: readonly LoggedRequest[]) => void

/**
 * Takes what the front door sees, and writes it soon, a few rows a turn. It costs a request a look at a clock and a
 * counter, whatever the load; what cannot be written is dropped and counted, never kept waiting.
 */
export class RequestLog {
  readonly #db: LogsDb
  readonly #log: Log
  readonly #store: RequestLogStore
  readonly #listeners = new Set<Listener>()
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

  /** `keepsRows` false: requests are only counted. */
  constructor(options: { db: LogsDb; log: Log; keepsRows: boolean }) {
    this.#db = options.db
    this.#log = options.log
    this.#store = new RequestLogStore(options.db, options.keepsRows)
  }

  /** The database, for those who read it: after `flush`. */
  get db(): LogsDb {
    return this.#db
  }

  /** Counts a request that was answered, and says how many it stands for; 0 when it need not be described. `at` in ms of any clock that only grows. */
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
    if (this.#isClosed || this.#waiting.length >= MOST_WAITING) {
      this.#dropped += row.weight
      return
    }
    this.#waiting.push(row)
    this.#timer ??= setTimeout(this.#drain, this.#listeners.size > 0 ? FLUSH_WATCHED_MS : FLUSH_MS).unref()
  }

  /** Counts one that could not even be described. */
  drop(weight: number): void {
    this.#dropped += weight
  }

  /** Writes what waits: before somebody reads, and at the end. Never throws. */
  flush(): void {
    while (this.#waiting.length > 0 && this.#writeSome());
  }

  /** Hands over each row once it is written. Returns how to end that. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    // The wait that began while nobody watched would hold up the first rows.
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

  /** What the last row stood for beside itself, but did not come, is taken off it. */
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
    return STEPS.find(({ upTo }) => this.#sampled <= upTo)?.weight ?? MOST_WEIGHT
  }

  #count({ durationMs, sizeBytes, weight }: Observed): void {
    const found = DURATION_BUCKETS_MS.findIndex((most) => durationMs <= most)
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
    // Requests come between two batches.
    this.#timer = setTimeout(this.#drain, isDone ? 0 : FLUSH_MS).unref()
  }

  /** False when somebody else holds the database: the rows wait on. */
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
      // Once, until it works again: a full disk must not fill the log of the process as well.
      if (!this.#isFailing) this.#log.error('the request log could not be written', { error })
      this.#isFailing = true
    }
    this.#db.checkpointWhenDue()
    return true
  }
}
