import { Http1Error, MAX_HEAD_BYTES } from './response-head.ts'

const NOTHING = Buffer.alloc(0)
const END = Buffer.from('\r\n\r\n')

/** Assembles the head of a response that arrives in pieces, at worst byte by byte. */
export class HeadCollector {
  /** Where the head returned by `add` ended in its bytes. */
  end = 0
  #kept = NOTHING
  #length = 0

  /** Nothing of a response has arrived yet. */
  get isEmpty(): boolean {
    return this.#length === 0
  }

  /**
   * Returns the head as text up to the CR LF of its last field, and sets `end`; null if more is to come. Throws
   * `Http1Error` if it is too long.
   */
  add(bytes: Buffer, start: number): string | null {
    if (this.#length === 0) {
      const at = bytes.indexOf(END, start)
      if (at !== -1) {
        this.end = at + END.length
        return headText(bytes, start, at + 2)
      }
    }
    return this.#addPiece(bytes, start)
  }

  #addPiece(bytes: Buffer, start: number): string | null {
    const before = this.#length
    const room = MAX_HEAD_BYTES + END.length - before
    this.#keep(bytes.subarray(start, start + room))
    const kept = this.#kept
    const at = kept.subarray(0, this.#length).indexOf(END, Math.max(0, before - 3))
    if (at === -1) {
      if (this.#length >= MAX_HEAD_BYTES + END.length) throw tooLong()
      return null
    }
    this.#kept = NOTHING
    this.#length = 0
    this.end = start + at + END.length - before
    return headText(kept, 0, at + 2)
  }

  #keep(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#kept.length) {
      const grown = Buffer.alloc(Math.max(length, this.#kept.length * 2, 1024))
      this.#kept.copy(grown, 0, 0, this.#length)
      this.#kept = grown
    }
    this.#kept.set(piece, this.#length)
    this.#length = length
  }
}

function headText(bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_HEAD_BYTES) throw tooLong()
  return bytes.toString('latin1', start, end)
}

const tooLong = () => new Http1Error(`more than ${MAX_HEAD_BYTES / 1024} KiB of header fields`)
