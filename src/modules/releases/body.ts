import { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip } from 'node:zlib'

type Reading = {
  text: string | null
  /** No more than this and the next piece is read; null: to the end. */
  stopAfter: number | null
  signal: AbortSignal
}

/**
 * Reads a body piece by piece, unencoded, and looks for a text in it: of a body of any size only one piece is held. `bytes` is
 * its length, or the first length above `stopAfter`.
 */
export async function readPlain(
  response: Response,
  { text, stopAfter, signal }: Reading,
): Promise<{ bytes: number; hasText: boolean }> {
  const search = new TextSearch(text)
  let bytes = 0
  for await (const piece of plainPieces(response, signal)) {
    bytes += piece.length
    search.take(piece)
    if (stopAfter === null ? search.isFound : bytes > stopAfter) break
  }
  return { bytes, hasText: search.isFound }
}

/** Bodies that are stored compressed are read as a browser shows them. */
async function* plainPieces(response: Response, signal: AbortSignal): AsyncGenerator<Buffer> {
  const coding = response.headers.get('content-encoding')
  if (response.body === null) return
  const source = Readable.from(response.body as unknown as AsyncIterable<Uint8Array>, { signal })
  const decoder = coding === 'gzip' ? createGunzip() : coding === 'br' ? createBrotliDecompress() : null
  if (decoder !== null) source.on('error', (error) => decoder.destroy(error))
  for await (const piece of decoder === null ? source : source.pipe(decoder)) {
    signal.throwIfAborted()
    yield Buffer.from(piece)
  }
}

/** Finds a text in pieces, also where it lies across two of them. */
class TextSearch {
  isFound = false
  readonly #wanted: Buffer | null
  #tail = Buffer.alloc(0)

  constructor(text: string | null) {
    this.#wanted = text === null ? null : Buffer.from(text)
  }

  take(piece: Buffer): void {
    if (this.#wanted === null || this.isFound) return
    const held = Buffer.concat([this.#tail, piece])
    this.isFound = held.includes(this.#wanted)
    this.#tail = Buffer.from(held.subarray(Math.max(0, held.length - this.#wanted.length + 1)))
  }
}
