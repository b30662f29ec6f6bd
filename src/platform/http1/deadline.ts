/**
 * A time limit that moves with every packet. Extending it only stores a number; the timer is renewed when it fires too
 * early, which is rare.
 */
export class Deadline {
  readonly #passed: () => void
  #at = Number.POSITIVE_INFINITY
  #firesAt = Number.POSITIVE_INFINITY
  #timer: Timer | null = null

  constructor(passed: () => void) {
    this.#passed = passed
  }

  /** `from` is the start of `ms`, for a caller that has just read the clock. */
  set(ms: number, from = performance.now()): void {
    this.#at = from + ms
    if (this.#at < this.#firesAt) this.#arm(this.#at - performance.now())
  }

  stop(): void {
    this.#at = Number.POSITIVE_INFINITY
    this.#firesAt = Number.POSITIVE_INFINITY
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #arm(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#firesAt = this.#at
    this.#timer = setTimeout(this.#fired, Math.max(0, ms))
    this.#timer.unref()
  }

  readonly #fired = (): void => {
    this.#timer = null
    this.#firesAt = Number.POSITIVE_INFINITY
    const left = this.#at - performance.now()
    if (left > 0) this.#arm(Math.ceil(left))
    else this.#passed()
  }
}
