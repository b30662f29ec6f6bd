import { AsyncLocalStorage } from 'node:async_hooks'

/** Counts commits that somebody is told of, for all and, where some work is counted apart, for that too. */
export class Awaited {
  static readonly #apart = new AsyncLocalStorage<Awaited>()
  #all: number

  constructor(count = 0) {
    this.#all = count
  }

  /** Runs `work`, and tells at any time how many commits it has made by itself: those of others meanwhile are not among them. */
  static apart<T>(work: () => T): { result: T; count: () => number } {
    const own = new Awaited()
    return { result: Awaited.#apart.run(own, work), count: () => own.#all }
  }

  get count(): number {
    return (Awaited.#apart.getStore() ?? this).#all
  }

  set count(count: number) {
    const own = Awaited.#apart.getStore() ?? this
    const more = count - own.#all
    own.#all = count
    if (own !== this) this.#all += more
  }
}
