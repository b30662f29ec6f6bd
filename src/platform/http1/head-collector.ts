import { Http1Error, MAX_HEAD_BYTES } from './response-head.ts'

const NOTHING = Buffer.alloc(0)
/** The last line end and the empty line. A sender may leave out each CR. RFC 9112 §2.2. */
const END_CRLF = Buffer.from('\n\r\n')
const END_LF = Buffer.from('\n\n')
const MAX_END_BYTES = 4

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
   * Returns the head as text up to the LF of its last field, and sets `end`; null if more is to come. Throws
   * `Http1Error` if it is too long.
   */
  add(bytes: Buffer, start: number): string | null {
    if (this.#length === 0) {
      const found = endOfHead(bytes, start)
      if (found !== null) {
        this.end = found.end
        return headText(bytes, start, found.lineEnd)
      }
    }
    return this.#addPiece(bytes, start)
  }

  #addPiece(bytes: Buffer, start: number): string | null {
    const before = this.#length
    const room = MAX_HEAD_BYTES + MAX_END_BYTES - before
    this.#keep(bytes.subarray(start, start + room))
    const kept = this.#kept
    const found = endOfHead(kept.subarray(0, this.#length), Math.max(0, before - 3))
    if (found === null) {
      if (this.#length >= MAX_HEAD_BYTES + MAX_END_BYTES) throw tooLong()
      return null
    }
    this.#kept = NOTHING
    this.#length = 0
    this.end = start + found.end - before
    return headText(kept, 0, found.lineEnd)
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

/** The first empty line from `start`: where the line before it ends, and where it ends itself. */
function endOfHead(bytes: Buffer, start: number): { lineEnd: number; end: number } | null {
  const crlf = bytes.indexOf(END_CRLF, start)
  // Not farther than that: the body behind it may be long.
  const lf = (crlf === -1 ? bytes : bytes.subarray(0, crlf + 1)).indexOf(END_LF, start)
  const at = lf === -1 ? crlf : lf
  if (at === -1) return null
  return { lineEnd: at + 1, end: at + (lf === -1 ? END_CRLF : END_LF).length }
}

function headText(bytes: Buffer, start: number, end: number): string {
  if (end - start > MAX_HEAD_BYTES) throw tooLong()
  return bytes.toString('latin1', start, end)
}

const tooLong = () => new Http1Error(`more than ${MAX_HEAD_BYTES / 1024} KiB of header fields`)
