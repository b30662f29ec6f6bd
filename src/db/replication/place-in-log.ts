import { logKey } from '../../domain/store-keys.ts'
import type { ObjectStore } from '../../platform/object-store.ts'
import type { Identity } from './fetch-change.ts'
import { anotherLog, behind, missing } from './log-error.ts'
import { lastOf, listLog } from './log-objects.ts'

/** How long a place that was seen to be there counts. */
const SEEN_MS = 10_000

/**
 * Whether the log still is the one that was followed so far. A store that has no next number may have been put back to before this
 * one, or may have removed this one as old.
 */
export class PlaceInLog {
  readonly #store: ObjectStore
  readonly #signal: AbortSignal
  #identity: Identity | null = null
  #seenAt = Number.NEGATIVE_INFINITY

  constructor(store: ObjectStore, signal: AbortSignal) {
    this.#store = store
    this.#signal = signal
  }

  /** The object of the number that is applied now. */
  moved(identity: Identity): void {
    this.#identity = identity
  }

  /** It is looked at before anything else is believed. */
  doubt(): void {
    this.#seenAt = Number.NEGATIVE_INFINITY
  }

  /** Throws `LogError` where the log does not go on from this number, of which it is known that it was there. */
  async require(number: number, seen: number): Promise<void> {
    if (performance.now() - this.#seenAt < SEEN_MS) return
    const signal = this.#signal
    const found = await this.#store.head(logKey(number), { patienceMs: 0, signal })
    if (found === null) throw await this.#whyAbsent(number, seen)
    if (this.#identity !== null && !isSame(this.#identity, found)) throw anotherLog(logKey(number))
    this.#identity = { writer: found.writer, epoch: found.epoch, sizeBytes: found.sizeBytes }
    this.#seenAt = performance.now()
  }

  async #whyAbsent(number: number, seen: number): Promise<Error> {
    const range = await listLog(this.#store, 1)
    const end = range === null ? 0 : lastOf(range)
    if (end < Math.max(seen, number)) return behind(end, Math.max(seen, number))
    return missing(logKey(number), 'so it was removed as old')
  }
}

const isSame = (known: Identity, found: Identity): boolean =>
  known.writer === found.writer &&
  known.epoch === found.epoch &&
  (known.sizeBytes === null || known.sizeBytes === found.sizeBytes)
