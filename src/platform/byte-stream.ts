import { AppError } from '../domain/errors.ts'

/** Bytes as they arrive: a request body, a file, the output of a decompressor. */
export type ByteStream = AsyncIterable<Uint8Array>

/**
 * Passes bytes on and counts them. Over `maxBytes` it fails with `too_large` and stops reading. A source that fails
 * (the client disconnected) becomes `invalid`. `what` is the subject of the message: 'The request body'.
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
 * Frees each piece once the next is requested, because nobody needs it any more: the garbage collector would let some
 * 50 MB accumulate first.
 */
export async function* givingBack(stream: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    yield piece
    free(piece)
  }
}

/** Frees the memory of a piece that nobody uses any more, unless it shares it with others. */
export function free(piece: Uint8Array): void {
  if (ownsMemory(piece)) piece.buffer.transfer(0)
}

/** Whether it has bytes, and they are all of its memory. */
export const ownsMemory = (piece: Uint8Array): piece is Uint8Array<ArrayBuffer> =>
  piece.byteLength > 0 && piece.buffer instanceof ArrayBuffer && piece.buffer.byteLength === piece.byteLength

/** Bytes that are all there, as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** A stream of which the beginning was looked at. `bytes` is all of it; `close` stops it where it was not read. */
export type Peeked = { head: Uint8Array; bytes: ByteStream; close(): Promise<void> }

/** Waits for the first `size` bytes; `head` is shorter if the stream is. */
export async function peekHead(stream: ByteStream, size: number): Promise<Peeked> {
  const source = stream[Symbol.asyncIterator]()
  const head = new ByteCollector()
  const chunks: Uint8Array[] = []
  while (head.sizeBytes < size) {
    const next = await source.next()
    if (next.done) break
    chunks.push(next.value)
    head.push(next.value.subarray(0, size - head.sizeBytes))
  }
  const close = async () => void (await source.return?.())
  return { head: head.bytes(), bytes: again(chunks, source), close }
}

async function* again(
  chunks: readonly Uint8Array[],
  source: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks
  yield* { [Symbol.asyncIterator]: () => source }
}

/** The one message for an exceeded byte limit. */
export function tooLarge(what: string, maxBytes: number): AppError {
  return new AppError('too_large', `${what} is larger than the ${maxBytes} bytes allowed`)
}

const EMPTY = new Uint8Array()

/** Takes pieces of a given size out of a stream with arbitrary chunks. The bytes it returns are never overwritten. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>
  #chunk: Uint8Array = EMPTY
  #hasStarted = false

  constructor(stream: ByteStream) {
    this.#source = stream[Symbol.asyncIterator]()
  }

  /** False until the first byte has arrived. */
  get hasStarted(): boolean {
    return this.#hasStarted
  }

  /** Takes `size` bytes without waiting, if they are all in the current chunk. */
  takeArrived(size: number): Uint8Array | undefined {
    if (this.#chunk.length < size) return undefined
    const taken = this.#chunk.subarray(0, size)
    this.#chunk = this.#chunk.subarray(size)
    return taken
  }

  /** The same without consuming the bytes. */
  peekArrived(size: number): Uint8Array | undefined {
    return this.#chunk.length < size ? undefined : this.#chunk.subarray(0, size)
  }

  /**
   * Reads `size` bytes into one array, or fewer if the stream ends first. Allocates `size` bytes, so the caller must
   * limit it.
   */
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

  /**
   * Takes what has arrived, at most `size` bytes, and waits for the next chunk if there is nothing. Empty at the end.
   */
  async takeSome(size: number): Promise<Uint8Array> {
    while (this.#chunk.length === 0) {
      const next = await this.#source.next()
      if (next.done) return EMPTY
      this.#chunk = next.value
      this.#hasStarted ||= next.value.length > 0
    }
    const piece = this.#chunk.subarray(0, size)
    // Not an empty view of the chunk: the caller that takes its last piece may free the memory.
    this.#chunk = piece.length === this.#chunk.length ? EMPTY : this.#chunk.subarray(piece.length)
    return piece
  }

  /** Skips `size` bytes; false if the stream ends first. */
  async skip(size: number): Promise<boolean> {
    for (let left = size; left > 0; ) {
      const piece = await this.takeSome(left)
      if (piece.length === 0) return false
      left -= piece.length
    }
    return true
  }

  /** Tells the source that no more bytes are wanted. */
  async close(): Promise<void> {
    this.#chunk = EMPTY
    await this.#source.return?.()
  }
}

/** Copies pieces together, so that a body that arrives byte by byte does not need an object for each byte. */
export class ByteCollector {
  #buffer = Buffer.alloc(0)
  #used = 0
  /** Somebody may still look at the buffer. */
  #isSeen = false

  get sizeBytes(): number {
    return this.#used
  }

  push(piece: Uint8Array): void {
    const needed = this.#used + piece.length
    if (needed > this.#buffer.length) {
      const before = this.#buffer
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(needed, 2 * before.length))
      this.#buffer.set(before.subarray(0, this.#used))
      if (!this.#isSeen) free(before)
      this.#isSeen = false
    }
    this.#buffer.set(piece, this.#used)
    this.#used = needed
  }

  /** The bytes so far, without a copy. */
  bytes(): Uint8Array {
    this.#isSeen = true
    return this.#buffer.subarray(0, this.#used)
  }

  /** Frees the memory: nobody uses its bytes any more. */
  clear(): void {
    free(this.#buffer)
    this.#buffer = Buffer.alloc(0)
    this.#used = 0
    this.#isSeen = false
  }
}
