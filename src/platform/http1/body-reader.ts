import { type Framing, Http1Error, MAX_FIELDS, MAX_HEAD_BYTES } from './response-head.ts'

/** A chunk line: the size, and extensions, which are ignored. */
const MAX_LINE_BYTES = 1024
const CHUNK_SIZE = /^([0-9a-fA-F]{1,13})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/
const TRAILER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/
const LF = 10

type Step = 'size' | 'data' | 'after-data' | 'trailer'

/** Extracts the content from the bytes of a body, and finds its end. */
export class BodyReader {
  isDone = false
  readonly #framing: Framing
  /** Content bytes still to come, of the body or of the current chunk. */
  #left: number
  #step: Step = 'size'
  #line = ''
  #trailerBytes = 0
  #trailers = 0

  constructor(framing: Framing) {
    this.#framing = framing
    this.#left = framing.kind === 'length' ? framing.length : framing.kind === 'close' ? Infinity : 0
    this.isDone = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0)
  }

  /**
   * Passes the content in `bytes` from `start` on to `emit`, without copying. Returns where it stopped: the end of
   * `bytes`, or the first byte after the body. Throws `Http1Error`.
   */
  read(bytes: Buffer, start: number, emit: (content: Uint8Array) => void): number {
    if (this.#framing.kind === 'chunked') return this.#readChunked(bytes, start, emit)
    if (this.isDone) return start
    const end = this.#take(bytes, start, emit)
    this.isDone = this.#left === 0
    return end
  }

  /** The other end has closed. Throws `Http1Error` if that was too early. */
  end(): void {
    if (this.#framing.kind === 'close') this.isDone = true
    if (!this.isDone) throw new Http1Error('only a part of its answer')
  }

  #take(bytes: Buffer, start: number, emit: (content: Uint8Array) => void): number {
    const end = Math.min(bytes.length, start + this.#left)
    if (end > start) emit(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end))
    this.#left -= end - start
    return end
  }

  #readChunked(bytes: Buffer, start: number, emit: (content: Uint8Array) => void): number {
    let at = start
    while (at < bytes.length && !this.isDone) {
      if (this.#step === 'data') {
        at = this.#take(bytes, at, emit)
        if (this.#left === 0) this.#step = 'after-data'
      } else {
        at = this.#readLine(bytes, at)
      }
    }
    return at
  }

  /** Buffers up to the LF, and processes the line once it is complete. RFC 9112 §7.1. */
  #readLine(bytes: Buffer, start: number): number {
    const lf = bytes.indexOf(LF, start)
    const end = lf === -1 ? bytes.length : lf + 1
    if (this.#line.length + end - start > MAX_LINE_BYTES + 2)
      throw new Http1Error('a line of more than 1 KiB in a chunked body')
    this.#line += bytes.toString('latin1', start, end)
    if (lf === -1) return end
    if (!this.#line.endsWith('\r\n')) throw new Http1Error('a bare line feed in a chunked body')
    const line = this.#line.slice(0, -2)
    this.#line = ''
    this.#act(line)
    return end
  }

  #act(line: string): void {
    if (this.#step === 'size') this.#startChunk(line)
    else if (this.#step === 'trailer') this.#endTrailer(line)
    else if (line !== '') throw new Http1Error('a chunk that is longer than its size')
    else this.#step = 'size'
  }

  #startChunk(line: string): void {
    const size = CHUNK_SIZE.exec(line)?.[1]
    if (size === undefined) throw new Http1Error('an invalid chunk size')
    this.#left = Number.parseInt(size, 16)
    this.#step = this.#left === 0 ? 'trailer' : 'data'
  }

  /** Trailers are validated and dropped: merging them into the head would be a security risk. */
  #endTrailer(line: string): void {
    this.isDone = line === ''
    this.#trailerBytes += line.length
    this.#trailers += 1
    if (line !== '' && !TRAILER.test(line)) throw new Http1Error('an invalid trailer line')
    if (this.#trailerBytes > MAX_HEAD_BYTES || this.#trailers > MAX_FIELDS)
      throw new Http1Error('too many trailer fields')
  }
}
