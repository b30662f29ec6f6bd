const EVERY_MS = 2_000
/** After a beat that did not get into the store. */
const AGAIN_MS = 500

/** When a primary says that it lives, by a monotonic clock in milliseconds. A new number of its log says it as well. */
export class BeatTimes {
  #number: number | undefined
  #beatAt = 0
  #lookAt = 0
  #triedAt = 0
  #hasSaid = false

  /** `beat`: say it, and look for a later primary; `look`: only that. To be asked often. */
  due(now: number, number: number): 'beat' | 'look' | null {
    if (number !== this.#number && this.#hasSaid) this.#beatAt = now + EVERY_MS
    this.#number = number
    const isBeat = now >= this.#beatAt
    if (!isBeat && now < this.#lookAt) return null
    this.#lookAt = now + EVERY_MS
    if (!isBeat) return 'look'
    this.#triedAt = now
    this.#beatAt = now + AGAIN_MS
    return 'beat'
  }

  /** The last beat is in the store. The first is said whatever the log says: it has the name. */
  said(): void {
    this.#hasSaid = true
    this.#beatAt = Math.max(this.#beatAt, this.#triedAt + EVERY_MS)
  }
}
