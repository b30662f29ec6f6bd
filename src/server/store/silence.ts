import type { ObjectStore } from '../../platform/object-store.ts'
import { readBeat } from './beat.ts'

/** What a machine that follows knows of the log. */
export type Heard = { number: number; epoch: number; isStoreUp: boolean }

/** How the newest primary is, as far as a stand-by can tell. */
export type PrimaryState = 'alive' | 'silent' | 'stepped_down'

/** More than this between two looks is a time in which this machine may have been stopped, too. */
const MAX_STEP_MS = 3_000

/**
 * Counts how long the log has had no new number and its newest primary no new beat, while the store answered, on this machine's own
 * monotonic clock. contract 18 §5.
 */
export class Silence {
  readonly #store: Pick<ObjectStore, 'get'>
  readonly #limitMs: number
  readonly #clock: () => number
  #silentMs = 0
  #lookedAt: number | null = null
  #said: string | null = null

  constructor(store: Pick<ObjectStore, 'get'>, limitMs: number, clock = () => performance.now()) {
    this.#store = store
    this.#limitMs = limitMs
    this.#clock = clock
  }

  /** `heard` is asked once the store has answered. Never rejects. */
  async look(heard: () => Heard): Promise<PrimaryState> {
    const { epoch } = heard()
    const beat = await readBeat(this.#store, epoch).catch(() => undefined)
    const { number, epoch: newest, isStoreUp } = heard()
    if (beat === undefined || !isStoreUp) {
      this.#lookedAt = null
      return 'alive'
    }
    if (newest !== epoch) return 'alive'
    this.#count(JSON.stringify([epoch, number, beat?.text]))
    if (beat?.hasSteppedDown === true) return 'stepped_down'
    return this.#silentMs >= this.#limitMs ? 'silent' : 'alive'
  }

  #count(said: string): void {
    const now = this.#clock()
    const passed = this.#lookedAt === null ? 0 : Math.min(now - this.#lookedAt, MAX_STEP_MS)
    this.#silentMs = said === this.#said ? this.#silentMs + passed : 0
    this.#lookedAt = now
    this.#said = said
  }
}
