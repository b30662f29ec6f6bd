import { AppError } from '../domain/errors.ts'

/** Bytes as they come in: a request body, a file, the output of a decompressor. */
export type ByteStream = AsyncIterable<Uint8Array>

/**
 * Hands on what comes in and counts it: past `maxBytes` it fails with `too_large`, and nothing more is read.
 * A source that breaks off (the client went away) becomes `invalid`. `what` begins the sentence: 'The request body'.
 */
export async function* limitBytes(
  stream: ByteStream,
  maxBytes: number,
  what: string,
): AsyncGenerator<Uint8Array> {
  let total = 0
  try {
    for await (const chunk of stream) {
      total += chunk.length
      if (total > maxBytes) throw tooLarge(what, maxBytes)
      yield chunk
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('invalid', `${what} was cut off before its end; send it again`, { cause: error })
  }
}

/**
 * Frees each piece once the next is asked for, as nobody may need it any more then: the collector would let some 50 MB
 * of them gather first. A piece that shares its memory with others is left to it.
 */
export async function* givingBack(stream: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    yield piece
    const { buffer, byteLength } = piece
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
  }
}

/** The one wording for a byte limit that was passed. */
export function tooLarge(what: string, maxBytes: number): AppError {
  return new AppError('too_large', `${what} is larger than the ${maxBytes} bytes allowed`)
}

const EMPTY = new Uint8Array()

/** Takes counted pieces out of a stream whose chunks are cut anywhere. What it hands out is never written again. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = EMPTY
  #hasStarted = false

  constructor(stream: ByteStream) {
    this.#source = stream[Symbol.asyncIterator]()
  }

  /** False until the first byte has come. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** `size` bytes without waiting, if they have arrived in one chunk. */
  takeArrived(size: number): Uint8Array | undefined {
    if (this.#chunk.length < size) return undefined
    const taken = this.#chunk.subarray(0, size)
    this.#chunk = this.#chunk.subarray(size)
    return taken
  }

  /** The same `size` bytes without taking them. */
  peekArrived(size: number): Uint8Array | undefined {
    return this.#chunk.length < size ? undefined : this.#chunk.subarray(0, size)
  }

  /** `size` bytes in one array, or fewer when the stream ends before. Allocates `size`: the caller bounds it. */
  async take(size: number): Promise<Uint8Array> {
    const arrived = this.takeArrived(size)
    if (arrived !== undefined) return arrived
    const taken = new Uint8Array(size)
    let filled = 0
    while (filled < size) {
      const piece = await this.takeSome(size - filled)
      if (piece.length === 0) return taken.subarray(0, filled)
      taken.set(piece, filled)
      filled += piece.length
    }
    return taken
  }

  /** What has arrived, at most `size` bytes; waits for the next chunk when that is nothing. Empty at the end. */
  async takeSome(size: number): Promise<Uint8Array> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next()
      if (next.done) return EMPTY
      this.#chunk = next.value
      this.#hasStarted ||= next.value.length > 0
    }
    const piece = this.#chunk.subarray(0, size)
    // Not a view of nothing: whoever takes the last piece of a chunk may give its memory back.
    this.#chunk = piece.length === this.#chunk.length ? EMPTY : this.#chunk.subarray(piece.length)
    return piece
  }

  /** Reads past the next `size` bytes; false when the stream ends before. */
  async skip(size: number): Promise<boolean> {
    for (let left = size; left > 0; ) {
      const piece = await this.takeSome(left)
      if (piece.length === 0) return false
      left -= piece.length
    }
    return true
  }

  /** Tells the source that no more is wanted. */
  async close(): Promise<void> {
    this.#chunk = EMPTY
    await this.#source.return?.()
  }
}

/** Copies pieces together, so that a body that trickles in byte by byte holds no object per byte. */
export class ByteCollector {
  #buffer = Buffer.alloc(0)
  #used = 0

  get sizeBytes(): number {
    return this.#used
  }

  push(piece: Uint8Array): void {
    const needed = this.#used + piece.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length))
      larger.set(this.bytes())
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#used)
    this.#used = needed
  }

  /** What came so far, not a copy. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#used)
  }
}
