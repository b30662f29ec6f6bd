/** The line of an offset in a text that comes in pieces. Offsets are asked in rising order, and not far back. */
export class LineCounter {
  /** The last two pieces: a tag may begin in one and end in the next. */
  #text = ''
  #start = 0
  #last = 0
  #asked = 0
  #line = 1

  add(piece: string): void {
    const kept = this.#text.slice(-this.#last)
    this.#moveTo(this.#start + this.#text.length - kept.length)
    this.#start += this.#text.length - kept.length
    this.#text = this.#last === 0 ? piece : kept + piece
    this.#last = piece.length
  }

  /** Counts from 1. */
  at(offset: number): number {
    this.#moveTo(offset)
    return this.#line
  }

  #moveTo(offset: number): void {
    const end = Math.min(offset - this.#start, this.#text.length)
    let at = this.#asked - this.#start
    for (;;) {
      const next = this.#text.indexOf('\n', at)
      if (next === -1 || next >= end) break
      this.#line += 1
      at = next + 1
    }
    this.#asked = Math.max(this.#asked, this.#start + Math.max(end, 0))
  }
}
