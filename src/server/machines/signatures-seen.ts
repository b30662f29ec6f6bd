import { VALID_MS } from './machine-header.ts'

/** A clock that is behind by as much as it may be makes a value good for twice as long. */
const KEPT_MS = 2 * VALID_MS
/** Some 30 bytes each, in two sets. */
const MOST = 100_000
/** Enough that two in a minute are never the same by accident. */
const USED_BYTES = 6

/**
 * Which signatures came here already, for as long as they are good, so that a value counts once. At least the last 100,000 are
 * known: where more come within a minute, the oldest are forgotten.
 */
export class SignaturesSeen {
  readonly #clock: () => number
  readonly #most: number
  #new = new Set<number>()
  #old = new Set<number>()
  #since: number

  constructor({ clock = () => performance.now(), most = MOST } = {}) {
    this.#clock = clock
    this.#most = most
    this.#since = clock()
  }

  /** Whether it comes for the first time. */
  isFirst(signature: Buffer): boolean {
    const mark = signature.readUIntBE(0, USED_BYTES)
    this.#turn()
    if (this.#new.has(mark) || this.#old.has(mark)) return false
    this.#new.add(mark)
    return true
  }

  #turn(): void {
    const now = this.#clock()
    if (now - this.#since < KEPT_MS && this.#new.size < this.#most) return
    this.#old = now - this.#since < 2 * KEPT_MS ? this.#new : new Set()
    this.#new = new Set()
    this.#since = now
  }
}
