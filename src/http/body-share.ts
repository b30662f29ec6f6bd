import { AppError } from '../domain/errors.ts'
import type { BodyBudget } from '../platform/body-budget.ts'

/** A body of at most this length, by its `Content-Length`, takes no share, so that signing in always works. */
const FREE_BYTES = 64 * 1024
const RETRY_SECONDS = 5
/** A sender that is refused amid its body still sends, and would take an end at once for a broken connection. */
const LINGER_MS = 1000

/** The share of the budget that the body of one request has. */
export class BodyShare {
  readonly #budget: BodyBudget
  readonly #owner: string
  readonly #freeBytes: number
  #arrived = 0
  #taken = 0
  #isCounted = false
  #isRefused = false

  /** `statedBytes` is the `Content-Length`; null if there is none. */
  constructor(budget: BodyBudget, owner: string, statedBytes: number | null) {
    this.#budget = budget
    this.#owner = owner
    this.#freeBytes = statedBytes !== null && statedBytes <= FREE_BYTES ? statedBytes : 0
  }

  /** More of the body has arrived. Throws `unavailable` if there is no room for it. */
  take(bytes: number): void {
    this.#arrived += bytes
    if (this.#arrived <= this.#freeBytes) return
    if (!this.#isCounted) this.#budget.enter()
    this.#isCounted = true
    if (!this.#budget.take(this.#owner, bytes, this.#taken)) {
      this.#budget.refusals.room += 1
      this.#isRefused = true
      throw noRoom()
    }
    this.#taken += bytes
  }

  /** So many of its bytes are on the disk, and held no more. */
  passOn(bytes: number): void {
    const given = Math.min(bytes, this.#taken)
    if (given > 0) this.#budget.giveBack(this.#owner, given)
    this.#taken -= given
  }

  /** The request is answered: gives the share back. Resolves when the answer may go out. RFC 9112 §9.6. */
  async end(): Promise<void> {
    if (this.#taken > 0) this.#budget.giveBack(this.#owner, this.#taken)
    this.#taken = 0
    if (this.#isRefused) await Bun.sleep(LINGER_MS)
    if (this.#isCounted) this.#budget.leave()
    this.#isCounted = false
  }
}

const noRoom = (): AppError =>
  new AppError('unavailable', 'The server holds too many large requests at the moment. Try again.', {
    headers: { 'retry-after': String(RETRY_SECONDS), connection: 'close' },
  })
