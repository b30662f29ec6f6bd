/** Requests at once. */
const MAX_AT_ONCE = 8
/** Requests at once to one receiver, so that one that hangs delays nobody else. */
const MAX_TO_ONE = 2

/** Who may send now. A receiver is an origin. */
export class Slots {
  readonly #busy = new Map<string, number>()
  readonly #waiting: { origin: string; go: () => void }[] = []
  readonly #atOnce: number
  #used = 0

  constructor(atOnce = MAX_AT_ONCE) {
    this.#atOnce = atOnce
  }

  get isFull(): boolean {
    return this.#used >= this.#atOnce
  }

  /** False if it must wait. */
  tryTake(origin: string): boolean {
    if (this.isFull || (this.#busy.get(origin) ?? 0) >= MAX_TO_ONE) return false
    this.#used += 1
    this.#busy.set(origin, (this.#busy.get(origin) ?? 0) + 1)
    return true
  }

  /** Waits until it may send; before everybody who comes later. */
  async take(origin: string): Promise<void> {
    if (this.tryTake(origin)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ origin, go: resolve })
    await promise
  }

  release(origin: string): void {
    this.#used -= 1
    const left = (this.#busy.get(origin) ?? 1) - 1
    if (left === 0) this.#busy.delete(origin)
    else this.#busy.set(origin, left)
    const next = this.#waiting.findIndex((one) => this.tryTake(one.origin))
    const [first] = next === -1 ? [] : this.#waiting.splice(next, 1)
    first?.go()
  }
}
