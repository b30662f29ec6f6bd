import { parseResponseHead, type ResponseHead } from './response-head.ts'

/** Longer heads are rare, and seldom the same twice. */
const MOST_KNOWN_LENGTH = 2048
const MOST_KNOWN = 256
/** A power of two. */
const TRACES = 1024

/** A head, and whether it is the very object of an earlier answer. */
export type ReadHead = { readonly head: ResponseHead; readonly isKnown: boolean }

/**
 * What backends said lately, by its text: a backend under load says the same for many visitors, and what was found in
 * it need not be found again. Only what comes twice is kept, as keeping what never comes again costs more than parsing;
 * all of it goes when there is too much.
 */
export class KnownHeads {
  readonly #known = new Map<string, ReadHead>()
  /** Hashes of heads that came once. */
  readonly #traces = new Uint32Array(TRACES)

  /** As `parseResponseHead`. Throws `Http1Error`. */
  read(text: string): ReadHead {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const head = parseResponseHead(text)
    if (text.length <= MOST_KNOWN_LENGTH && this.#hasTrace(text)) this.#remember(text, head)
    return { head, isKnown: false }
  }

  /** Whether it came lately; if not, it will have. A wrong yes costs a place, and no more. */
  #hasTrace(text: string): boolean {
    const hash = Bun.hash.xxHash32(text)
    const place = hash % TRACES
    if (this.#traces[place] === hash) return true
    this.#traces[place] = hash
    return false
  }

  #remember(text: string, head: ResponseHead): void {
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    this.#known.set(text, { head, isKnown: true })
  }
}
