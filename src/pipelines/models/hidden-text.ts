const MASK = '[redacted]'

/** So many characters of a text in a row are not passed on before it is sure that the text does not go on. */
const TELLING = 8

/** Takes a text, such as a key, out of others that come in pieces, wherever they are cut. */
export class HiddenText {
  readonly #text: string
  /** Of each length of a beginning of the text: how long a beginning it ends with. Knuth, Morris and Pratt. */
  readonly #fallback: readonly number[]
  /** How much of the text the pieces end with so far. */
  #matched = 0
  #held = ''

  constructor(text: string) {
    this.#text = text
    this.#fallback = fallbackOf(text)
  }

  /** What of the pieces so far may be passed on now. */
  pass(piece: string): string {
    const all = this.#held + piece
    let out = ''
    let from = 0
    for (let at = this.#held.length; at < all.length; at++) {
      this.#step(all[at] ?? '')
      if (this.#matched < this.#text.length) continue
      out += all.slice(from, Math.max(from, at + 1 - this.#text.length)) + MASK
      from = at + 1
      this.#matched = 0
    }
    const isTelling = this.#matched >= Math.min(TELLING, this.#text.length)
    const end = isTelling ? Math.max(from, all.length - this.#matched) : all.length
    this.#held = all.slice(end)
    return out + all.slice(from, end)
  }

  /** What was held back and is nothing to hide, as no more comes. */
  rest(): string {
    const held = this.#held
    this.#held = ''
    return held
  }

  #step(char: string): void {
    while (this.#matched > 0 && this.#text[this.#matched] !== char)
      this.#matched = this.#fallback[this.#matched] ?? 0
    if (this.#text[this.#matched] === char) this.#matched += 1
  }
}

function fallbackOf(text: string): number[] {
  const fallback = [0, 0]
  let length = 0
  for (let i = 1; i < text.length; i++) {
    while (length > 0 && text[i] !== text[length]) length = fallback[length] ?? 0
    if (text[i] === text[length]) length += 1
    fallback.push(length)
  }
  return fallback
}
