/** What has to arrive in any span, unless it is the rest. contract 12.6. */
const MIN_BYTES = 10 * 1024
const MAX_MS = 10 * 60_000
/** Pieces that arrive within this part of a span count as one. */
const SLOTS = 64

/** `totalBytes` had arrived at `at`. */
type Arrival = { since: number; at: number; totalBytes: number }

/** Watches how fast a body arrives. Calls `onLate` once if it is too slow, until `stop`. */
export class Pace {
  isLate = false
  readonly #spanMs: number
  readonly #onLate: () => void
  readonly #startedAt = performance.now()
  /** From the last one with at least `MIN_BYTES` behind it. */
  #arrivals: Arrival[] = [{ since: this.#startedAt, at: this.#startedAt, totalBytes: 0 }]
  #totalBytes = 0
  #timer: Timer

  constructor(spanMs: number, onLate: () => void) {
    this.#spanMs = spanMs
    this.#onLate = onLate
    this.#timer = this.#checkIn(spanMs)
  }

  arrived(bytes: number): void {
    const now = performance.now()
    this.#totalBytes += bytes
    const last = this.#arrivals.at(-1)
    if (last !== undefined && now - last.since < this.#spanMs / SLOTS && last.totalBytes > 0) {
      last.at = now
      last.totalBytes = this.#totalBytes
    } else this.#arrivals.push({ since: now, at: now, totalBytes: this.#totalBytes })
    const first = this.#arrivals.findIndex(({ totalBytes }) => totalBytes > this.#totalBytes - MIN_BYTES)
    if (first > 0) this.#arrivals.splice(0, first)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** When the body will be too slow if nothing more arrives. */
  get #deadline(): number {
    const windowStart = this.#arrivals[0]?.at ?? this.#startedAt
    return Math.min(windowStart + this.#spanMs, this.#startedAt + MAX_MS)
  }

  #checkIn(ms: number): Timer {
    // Timers run before input is read: after other work took long, what arrived meanwhile still has to count.
    const timer = setTimeout(() => {
      this.#timer = setTimeout(() => this.#check(), 1)
      this.#timer.unref()
    }, ms)
    timer.unref()
    return timer
  }

  #check(): void {
    const left = this.#deadline - performance.now()
    if (left > 0) {
      this.#timer = this.#checkIn(left)
      return
    }
    this.isLate = true
    this.#onLate()
  }
}
