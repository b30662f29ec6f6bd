import { varint } from './format.ts'

const FIRST_CAPACITY = 4096

/** The index of an LTX file in its stored form: number, offset and size of each page's frame, then a zero. */
export class PageIndex {
  #bytes = new Uint8Array(FIRST_CAPACITY)
  #length = 0

  add(page: number, offset: number, size: number): void {
    this.#append(varint(page))
    this.#append(varint(offset))
    this.#append(varint(size))
  }

  /** The whole index. Nothing may be added afterwards. */
  end(): Uint8Array<ArrayBuffer> {
    this.#append([0])
    return this.#bytes.subarray(0, this.#length)
  }

  #append(values: number[]): void {
    if (this.#length + values.length > this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes.set(values, this.#length)
    this.#length += values.length
  }
}
