/** The most bytes of records in one answer, as JSON in UTF-8. contract 14.1. */
export const MAX_LIST_BYTES = 8 * 2 ** 20

/** The JSON of a list, up to `maxBytes` with its brackets and commas. */
export class JsonList {
  readonly #maxBytes: number
  readonly #items: string[] = []
  #bytes = '[]'.length

  constructor(maxBytes = MAX_LIST_BYTES) {
    this.#maxBytes = maxBytes
  }

  get length(): number {
    return this.#items.length
  }

  /** False if there is no room for the item, which is then left out. */
  add(item: string): boolean {
    const bytes = this.#bytes + Buffer.byteLength(item) + (this.#items.length === 0 ? 0 : ','.length)
    if (bytes > this.#maxBytes) return false
    this.#append(item, bytes)
    return true
  }

  /** The same, but the first item always has room. */
  addOrFirst(item: string): boolean {
    if (this.#items.length > 0) return this.add(item)
    this.#append(item, this.#bytes + Buffer.byteLength(item))
    return true
  }

  #append(item: string, bytes: number): void {
    this.#items.push(item)
    this.#bytes = bytes
  }

  toString(): string {
    return `[${this.#items.join(',')}]`
  }
}
