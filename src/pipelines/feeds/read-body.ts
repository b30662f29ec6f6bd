import { xmlDecoder } from '../../domain/feeds/charset.ts'
import type { FeedReader } from '../../domain/feeds/feed-reader.ts'
import { XmlError } from '../../domain/feeds/xml-reader.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'

const MAX_BYTES = 10 * 1024 * 1024
/** What is read in one turn, in characters: a millisecond or two. */
const PIECE = 64 * 1024
/** The declaration of the encoding stands in these bytes. */
const START = 1024

/** Reads a whole text, while other requests go on. */
export async function readText(reader: FeedReader, text: string): Promise<void> {
  if (Buffer.byteLength(text) > MAX_BYTES) throw tooLarge()
  for (let at = 0; at < text.length; at += PIECE) {
    reader.write(text.slice(at, at + PIECE))
    await nextTurn()
  }
  reader.end()
}

/** Reads the body of a response as it arrives, and no more of it than it may have. */
export async function readBody(reader: FeedReader, { body, headers }: OutboundResponse): Promise<void> {
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  const pieces = new Pieces(reader)
  let decoder: TextDecoder | undefined
  let start = new Uint8Array()
  let size = 0
  for await (const bytes of bytesOf(body)) {
    size += bytes.length
    if (size > MAX_BYTES) throw tooLarge()
    if (decoder !== undefined) {
      await pieces.add(decoder.decode(bytes, { stream: true }))
      continue
    }
    start = new Uint8Array(Buffer.concat([start, bytes]))
    if (start.length < START) continue
    decoder = xmlDecoder(start, type)
    await pieces.add(decoder.decode(start, { stream: true }))
  }
  if (decoder === undefined) {
    decoder = xmlDecoder(start, type)
    await pieces.add(decoder.decode(start, { stream: true }))
  }
  await pieces.add(decoder.decode())
  pieces.end()
}

async function* bytesOf(body: OutboundResponse['body']): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else if (body !== null) yield* body
}

/** Hands texts on in pieces of one size, however they came. */
class Pieces {
  readonly #reader: FeedReader
  #text = ''

  constructor(reader: FeedReader) {
    this.#reader = reader
  }

  async add(text: string): Promise<void> {
    this.#text += text
    while (this.#text.length >= PIECE) {
      this.#reader.write(this.#text.slice(0, PIECE))
      this.#text = this.#text.slice(PIECE)
      await nextTurn()
    }
  }

  end(): void {
    this.#reader.write(this.#text)
    this.#reader.end()
  }
}

const tooLarge = () => new XmlError(`is larger than ${MAX_BYTES} bytes (10 MiB)`)
