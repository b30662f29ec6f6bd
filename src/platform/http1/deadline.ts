/**
 * A time limit that is moved for every packet. Moving it further away costs a store; the timer below is set
 * anew when it fires too early, which is rare.
 */
export class Deadline {
  readonly #passed: () => void
  #at = Number.POSITIVE_INFINITY
  #firesAt = Number.POSITIVE_INFINITY
  #timer: Timer | null = null

  constructor(passed: () => void) {
    this.#passed = passed
  }

  /** `from` is the time that `ms` counts from, where the caller has just looked at the clock. */
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
