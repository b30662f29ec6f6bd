import { parseResponseHead, type ResponseHead } from './response-head.ts'

/** Longer heads are rare, and seldom repeat. */
const MAX_KNOWN_LENGTH = 2048
const MAX_KNOWN = 256
/** A power of two. */
const TRACES = 1024

/** A head, and whether it is the same object as in an earlier response. */
export type ReadHead = { readonly head: ResponseHead; readonly isKnown: boolean }

/**
 * Caches recent response heads by their text: a backend under load sends the same head to many visitors, so it need not
 * be parsed again. Only heads that come twice are cached, because caching those that never repeat costs more than
 * parsing. A full cache is cleared.
 */
export class KnownHeads {
  readonly #known = new Map<string, ReadHead>()
  /** Hashes of heads that came once. */
  readonly #traces = new Uint32Array(TRACES)

  /** Like `parseResponseHead`. Throws `Http1Error`. */
  read(text: string): ReadHead {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const head = parseResponseHead(text)
    if (text.length <= MAX_KNOWN_LENGTH && this.#hasTrace(text)) this.#remember(text, head)
    return { head, isKnown: false }
  }

  /** Whether the text came recently; remembers it if not. A false positive only costs a place in the cache. */
  #hasTrace(text: string): boolean {
    const hash = Bun.hash.xxHash32(text)
    const place = hash % TRACES
    if (this.#traces[place] === hash) return true
    this.#traces[place] = hash
    return false
  }

  #remember(text: string, head: ResponseHead): void {
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(text, { head, isKnown: true })
  }
}
