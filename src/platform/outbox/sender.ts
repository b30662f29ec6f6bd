import type { Log } from '../log.ts'
import { Slots } from './slots.ts'
import type { Waker } from './waker.ts'

/** The longest sleep while something waits: the clock may be set. */
const MAX_SLEEP_MS = 30_000
/** The pause after a failure of the database. */
const PAUSE_MS = 5_000
/** The pause after the object store did not answer. */
const STORE_PAUSE_MS = 1_000
/** How often a result is written before it is given up. */
const MAX_WRITES = 12

/** What is sent, by its rows in the database. */
export type Outbox<One extends { id: string }> = {
  /** For the log: `webhook`. */
  name: string
  now: () => number
  log: Log
  waker: Waker
  /** How many are sent at once; 8 unless said. */
  atOnce?: number
  /** Resolves when what was written may leave; rejects while it may not. */
  shipped(): Promise<void>
  /** What is due and not in `apart` (ids), in the order in which it is started. */
  listDue(apart: readonly string[]): One[]
  /** When the next one after now is due; null if none waits. */
  nextDueAt(): number | null
  /** Whoever shares a receiver shares its slots; undefined for what is not sent any more. */
  receiverOf(one: One): string | undefined
  /** One try. Returns what writes its result; undefined if there is none, and it is tried again after the next start. */
  attempt(one: One, stop: AbortSignal): Promise<(() => void) | undefined>
}

/** Sends an outbox: what hangs delays only what goes to the same receiver, and a crash loses nothing. */
export class Sender<One extends { id: string }> {
  readonly #outbox: Outbox<One>
  readonly #slots: Slots
  readonly #sending = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(outbox: Outbox<One>) {
    this.#outbox = outbox
    this.#slots = new Slots(outbox.atOnce)
  }

  /** Sends from now on. Returns a function that stops it; what is under way then is tried again later. */
  start(): () => Promise<void> {
    let timer: Timer | undefined
    let isStopped = false
    const round = (): void => {
      clearTimeout(timer)
      timer = undefined
      if (isStopped) return
      timer = setTimeout(round, this.#startAll(round) ?? MAX_SLEEP_MS)
      timer.unref()
    }
    const stopListening = this.#outbox.waker.listen(round)
    round()
    return async () => {
      isStopped = true
      clearTimeout(timer)
      stopListening()
      this.#stopping.abort(new Error('The server is stopping'))
      await Promise.all(this.#sending.values())
    }
  }

  /** Sends all that is due, and what that leads to at once. For tests with a clock that stands still. */
  async sendDue(): Promise<void> {
    for (this.#startDue(() => {}); this.#sending.size > 0; this.#startDue(() => {}))
      await Promise.race(this.#sending.values())
  }

  /** Sends one now, before those that wait. */
  async sendNow(one: One): Promise<void> {
    const receiver = this.#outbox.receiverOf(one)
    if (receiver === undefined) return
    const turn = this.#slots.take(receiver).then(() => this.#attempt(one, receiver))
    this.#sending.set(one.id, turn)
    await turn
  }

  /** Starts what is due; returns after how many ms to look again. */
  #startAll(onEnd: () => void): number | undefined {
    const { now, log, name } = this.#outbox
    try {
      this.#startDue(onEnd)
      const next = this.#outbox.nextDueAt()
      return next === null ? undefined : Math.min(Math.max(0, next - now()), MAX_SLEEP_MS)
    } catch (error) {
      log.error(`what waits to be sent could not be read: ${name}`, { error })
      return PAUSE_MS
    }
  }

  #startDue(onEnd: () => void): void {
    for (let isStarting = true; isStarting && !this.#slots.isFull; ) {
      const due = this.#outbox.listDue([...this.#sending.keys()])
      isStarting = due.map((one) => this.#start(one, onEnd)).includes(true)
    }
  }

  #start(one: One, onEnd: () => void): boolean {
    const receiver = this.#outbox.receiverOf(one)
    if (receiver === undefined || !this.#slots.tryTake(receiver)) return false
    this.#sending.set(one.id, this.#attempt(one, receiver).then(onEnd))
    return true
  }

  /** One try, with a slot that is given back. Never rejects. */
  async #attempt(one: One, receiver: string): Promise<void> {
    try {
      if (!(await this.#mayLeave())) return
      const write = await this.#outbox.attempt(one, this.#stopping.signal)
      if (write !== undefined) await this.#keep(write)
    } catch (error) {
      this.#outbox.log.error(`a ${this.#outbox.name} could not be sent`, { id: one.id, error })
    } finally {
      this.#sending.delete(one.id)
      this.#slots.release(receiver)
    }
  }

  /** Waits until what is to be sent cannot be lost any more; false if the server stops before. */
  async #mayLeave(): Promise<boolean> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#outbox.shipped()
        return !this.#stopping.signal.aborted
      } catch {
        await sleepUnless(this.#stopping.signal, STORE_PAUSE_MS)
      }
    }
    return false
  }

  /** Until it is written down it counts as being sent, so that a full disk does not make it go out again and again. */
  async #keep(write: () => void): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        return write()
      } catch (error) {
        const { log, name } = this.#outbox
        if (tries === 0) log.error(`the result of a ${name} could not be written`, { error })
        if (tries >= MAX_WRITES || this.#stopping.signal.aborted) throw error
        await sleepUnless(this.#stopping.signal, PAUSE_MS)
      }
    }
  }
}

const sleepUnless = (stop: AbortSignal, ms: number): Promise<unknown> =>
  Promise.race([
    Bun.sleep(ms),
    new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true })),
  ])
