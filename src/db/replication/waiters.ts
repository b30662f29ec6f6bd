type Waiter = { number: number; end(isReached: boolean): void }

const MAX_WAITING = 1_000

/** Those who wait until a number of the log is here. */
export class Waiters {
  readonly #waiting = new Set<Waiter>()

  reached(number: number, ms: number): Promise<boolean> {
    if (this.#waiting.size >= MAX_WAITING || ms <= 0) return Promise.resolve(false)
    return new Promise((resolve) => {
      const timer = setTimeout(() => waiter.end(false), ms)
      const waiter: Waiter = {
        number,
        end: (isReached) => {
          clearTimeout(timer)
          this.#waiting.delete(waiter)
          resolve(isReached)
        },
      }
      this.#waiting.add(waiter)
    })
  }

  applied(number: number): void {
    for (const waiter of this.#waiting) if (waiter.number <= number) waiter.end(true)
  }

  /** Nothing more is applied. */
  end(): void {
    for (const waiter of this.#waiting) waiter.end(false)
  }
}
