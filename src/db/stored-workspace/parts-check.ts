import type { ContentObject, Part } from './contents.ts'

/** Compares the contents of an object with their SHA-256 while its bytes come by. */
export class PartsCheck {
  readonly #object: ContentObject
  readonly #damaged: Part[] = []
  #next = 0
  #at = 0
  #hash = new Bun.CryptoHasher('sha256')

  constructor(object: ContentObject) {
    this.#object = object
  }

  push(bytes: Uint8Array): void {
    const from = this.#at
    const end = from + bytes.length
    for (let part = this.#current(); part !== undefined; part = this.#current()) {
      const partEnd = part.offset + part.sizeBytes
      const start = Math.max(part.offset, from)
      if (start < end)
        this.#hash.update(bytes.subarray(start - from, Math.max(start, Math.min(partEnd, end)) - from))
      if (partEnd > end) break
      this.#finish(part, partEnd)
    }
    this.#at = end
  }

  /** The contents that are not what was stored. Those that are known to be damaged are none of them. */
  end(): Part[] {
    // Contents without a byte, of an object without any.
    this.push(new Uint8Array(0))
    for (let part = this.#current(); part !== undefined; part = this.#current()) this.#fail(part)
    const [first] = this.#object.parts
    const isFile = this.#object.path.startsWith('files')
    if (isFile && first !== undefined && this.#at !== first.sizeBytes && this.#damaged.length === 0)
      this.#damaged.push(first)
    return this.#damaged.filter(({ isDamaged }) => !isDamaged)
  }

  #current(): Part | undefined {
    return this.#object.parts[this.#next]
  }

  #finish(part: Part, end: number): void {
    if (this.#hash.digest('hex') !== part.sha256) this.#damaged.push(part)
    this.#begin()
    // Two contents that share bytes: one of the rows is wrong.
    for (let next = this.#current(); next !== undefined && next.offset < end; next = this.#current())
      this.#fail(next)
  }

  #fail(part: Part): void {
    this.#damaged.push(part)
    this.#begin()
  }

  #begin(): void {
    this.#next += 1
    this.#hash = new Bun.CryptoHasher('sha256')
  }
}
