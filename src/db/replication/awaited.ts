import { AsyncLocalStorage } from 'node:async_hooks'

const apart = new AsyncLocalStorage<Awaited>()

/** Counts commits that somebody is told of, for all and, where some work is counted apart, for that too. */
export class Awaited {
  #all: number

  constructor(count = 0) {
    this.#all = count
  }

  get count(): number {
    return (apart.getStore() ?? this).#all
  }

  set count(count: number) {
    const own = apart.getStore() ?? this
    const more = count - own.#all
    own.#all = count
    if (own !== this) this.#all += more
  }
}

/** Runs `work`, and tells at any time how many commits it has made by itself: what others commit meanwhile is not among them. */
export function countedApart<T>(work: () => T): { result: T; count: () => number } {
  const own = new Awaited()
  return { result: apart.run(own, work), count: () => apart.run(own, () => own.count) }
}
