/** Why a body was refused: no room in the budget, or it came too slowly. */
export type BodyRefusal = 'room' | 'pace'

/** The runtime reads 512 KiB of a body ahead of us, and holds a piece of 128 KiB for us. Of few bodies that is too little to count. */
const READ_AHEAD_BYTES = (512 + 128) * 1024
const FEW_BODIES = 16
/** The most that is kept for that, as a part of the budget. */
const MAX_AHEAD_PART = 1 / 4

/**
 * The memory that bodies may take together while they are held. One owner (an address) may have at most half, so that
 * there always is room for others; only a body that is held alone may take more. contract 12.6.
 */
export class BodyBudget {
  /** How many bodies were refused since the start. */
  readonly refusals: Record<BodyRefusal, number> = { room: 0, pace: 0 }
  readonly #maxBytes: number
  readonly #byOwner = new Map<string, number>()
  #used = 0
  #bodies = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get usedBytes(): number {
    return this.#used
  }

  /** A body that needs a share begins. Also a refused one counts until it has left: the rest of it still arrives. */
  enter(): void {
    this.#bodies += 1
  }

  leave(): void {
    this.#bodies -= 1
  }

  /** `held` is what this body has so far. False, and nothing taken, if there is no room. */
  take(owner: string, bytes: number, held: number): boolean {
    const own = (this.#byOwner.get(owner) ?? 0) + bytes
    const isAlone = this.#used === held
    if (this.#used + bytes > this.#room || (own > this.#maxBytes / 2 && !isAlone)) return false
    this.#byOwner.set(owner, own)
    this.#used += bytes
    return true
  }

  giveBack(owner: string, bytes: number): void {
    const own = (this.#byOwner.get(owner) ?? 0) - bytes
    if (own > 0) this.#byOwner.set(owner, own)
    else this.#byOwner.delete(owner)
    this.#used -= bytes
  }

  get #room(): number {
    const ahead = Math.max(0, this.#bodies - FEW_BODIES) * READ_AHEAD_BYTES
    return this.#maxBytes - Math.min(ahead, this.#maxBytes * MAX_AHEAD_PART)
  }
}
