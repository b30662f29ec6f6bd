/** The most bytes of records in one answer, as JSON in UTF-8. contract 14.1. */
export const MAX_LIST_BYTES = 8 * 2 ** 20

/** The room for the JSON of a list, up to `maxBytes` with its brackets and commas. */
export class JsonRoom {
  readonly #maxBytes: number
  #length = 0
  #bytes = '[]'.length

  constructor(maxBytes = MAX_LIST_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** How many items have room. */
  get length(): number {
    return this.#length
  }

  /** False if there is no room for the item, which is to be left out then. */
  take(...parts: string[]): boolean {
    const bytes = this.#bytesWith(parts)
    if (bytes > this.#maxBytes) return false
    this.#bytes = bytes
    this.#length += 1
    return true
  }

  /** The same, but the first item always has room. */
  takeOrFirst(...parts: string[]): boolean {
    if (this.#length > 0) return this.take(...parts)
    this.#bytes = this.#bytesWith(parts)
    this.#length = 1
    return true
  }

  #bytesWith(parts: readonly string[]): number {
    const comma = this.#length === 0 ? 0 : ','.length
    return parts.reduce((sum, part) => sum + Buffer.byteLength(part), this.#bytes + comma)
  }
}

/** The JSON of a list that has such room. */
export class JsonList {
  readonly #room: JsonRoom
  readonly #items: string[] = []

  constructor(maxBytes = MAX_LIST_BYTES) {
    this.#room = new JsonRoom(maxBytes)
  }

  get length(): number {
    return this.#items.length
  }

  /** False if there is no room for the item, which is then left out. */
  add(item: string): boolean {
    return this.#keep(item, this.#room.take(item))
  }

  /** The same, but the first item always has room. */
  addOrFirst(item: string): boolean {
    return this.#keep(item, this.#room.takeOrFirst(item))
  }

  #keep(item: string, isKept: boolean): boolean {
    if (isKept) this.#items.push(item)
    return isKept
  }

  toString(): string {
    return `[${this.#items.join(',')}]`
  }
}
