import type { FeedEntry } from '../../domain/feeds/entry.ts'
import { XmlError } from '../../domain/feeds/xml-reader.ts'

const MAX_BYTES = 16 * 1024 * 1024

/** The bytes that entries of one step may still take. */
export class Room {
  left = MAX_BYTES
}

/**
 * The entries of one feed as JSON: texts of their own, so that none keeps the document in memory. Throws `XmlError` where
 * there is no room for one more.
 */
export class FoundEntries {
  readonly #room: Room
  readonly #texts: string[] = []
  #bytes = 0

  constructor(room: Room) {
    this.#room = room
  }

  add(entry: FeedEntry): void {
    const text = JSON.stringify(entry)
    this.#take(Buffer.byteLength(text))
    this.#texts.push(text)
  }

  /** JSON of the entries, each with its source. */
  from(source: string | undefined): string[] {
    if (source === undefined) return this.#texts
    const begin = `{"source":${JSON.stringify(source)},`
    this.#take(Buffer.byteLength(begin) * this.#texts.length)
    return this.#texts.map((text) => begin + text.slice(1))
  }

  discard(): void {
    this.#room.left += this.#bytes
    this.#bytes = 0
  }

  #take(bytes: number): void {
    if (bytes > this.#room.left)
      throw new XmlError(`is too large: the entries of a step take at most ${MAX_BYTES} bytes (16 MiB)`)
    this.#room.left -= bytes
    this.#bytes += bytes
  }
}
