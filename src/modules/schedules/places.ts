import { type Shares, Turns, type Who } from '../../platform/turns.ts'

/** What may begin beside what runs. */
export type Room = { atOnce: number; shares: Shares; running: readonly Who[] }

/** contract 14.6. */
const MAX_AT_ONCE = 10
/** A run may be long: nobody's runs keep those of everybody else from beginning. */
const SHARES: Shares = { maxPerProject: 3, sharedPerOwner: 3, maxPerOwner: 4 }

type Waiting = Who & { begin: () => void }

/** The places of the runs that go on, and the runs that wait for one. */
export class Places {
  readonly #waiting = new Turns<Waiting>(SHARES)
  readonly #taken: Who[] = []

  get room(): Room {
    return { atOnce: MAX_AT_ONCE, shares: SHARES, running: this.#taken }
  }

  /** Waits for a place. Returns a function that gives it to whoever is next. */
  async take(who: Who): Promise<() => void> {
    const place = await new Promise<Waiting>((resolve) => {
      const waiting: Waiting = { ...who, begin: () => resolve(waiting) }
      this.#waiting.add(waiting)
      this.#serve()
    })
    return () => {
      this.#taken.splice(this.#taken.indexOf(place), 1)
      this.#serve()
    }
  }

  #serve(): void {
    while (this.#taken.length < MAX_AT_ONCE) {
      const next = this.#waiting.next(this.#taken)
      if (next === undefined) return
      this.#waiting.remove(next)
      this.#taken.push(next)
      next.begin()
    }
  }
}
