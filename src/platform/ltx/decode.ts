import { Crc64 } from './crc64.ts'
import type { Page } from './encode.ts'
import {
  CHECKSUM_FLAG,
  checkPageNumber,
  HAS_SIZE,
  HEADER_SIZE,
  INDEX_SIZE_FIELD,
  isSnapshot,
  LtxError,
  type LtxHeader,
  lockPage,
  PAGE_HEADER_SIZE,
  readHeader,
  SIZE_FIELD,
  TRAILER_SIZE,
} from './format.ts'
import { blockBound, Lz4Error, readBlock } from './lz4.ts'
import { readFrame } from './lz4-frame.ts'
import { PageIndex } from './page-index.ts'

/** What a reader is told. The data of a page is overwritten by the next one. */
export type LtxSink = { header(header: LtxHeader): void; page(page: Page): void }

/** Of one page in an older file, whose frame does not say its size. */
const MAX_FRAME = 4 * 65_536

/**
 * Reads an LTX file from pieces of any size, in flat memory but for the index. What it told the sink is right only when `end`
 * returned: until then the checksum is not known.
 */
export class LtxDecoder {
  readonly #sink: LtxSink
  readonly #crc = new Crc64()
  #rest: Uint8Array = new Uint8Array(0)
  #offset = 0
  #header: LtxHeader | null = null
  #page = new Uint8Array(0)
  #before = 0
  #step: () => number = () => this.#readHeader()
  readonly #index = new PageIndex()
  #isWhole = false

  constructor(sink: LtxSink) {
    this.#sink = sink
  }

  push(bytes: Uint8Array): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    try {
      for (let taken = this.#next(); taken > 0; taken = this.#next()) this.#take(taken)
    } catch (error) {
      throw error instanceof Lz4Error ? new LtxError(error.message) : error
    }
    // What is left is kept past this call, and may be part of a buffer that is used again.
    this.#rest = Uint8Array.from(this.#rest)
  }

  end(): LtxHeader {
    if (!this.#isWhole || this.#header === null) throw new LtxError('It is cut off')
    return this.#header
  }

  #next(): number {
    if (!this.#isWhole) return this.#step()
    if (this.#rest.length > 0) throw new LtxError('Something follows its end')
    return 0
  }

  #take(count: number): void {
    this.#rest = this.#rest.subarray(count)
    this.#offset += count
  }

  #readHeader(): number {
    if (this.#rest.length < HEADER_SIZE) return 0
    const header = readHeader(this.#rest)
    this.#crc.update(this.#rest.subarray(0, HEADER_SIZE))
    this.#header = header
    this.#page = new Uint8Array(header.pageSize)
    this.#sink.header(header)
    this.#step = () => this.#readPage(header)
    return HEADER_SIZE
  }

  #readPage(header: LtxHeader): number {
    if (this.#rest.length < PAGE_HEADER_SIZE) return 0
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset, this.#rest.byteLength)
    const page = view.getUint32(0)
    const flags = view.getUint16(4)
    if (page === 0 && flags === 0) return this.#endPages(header)
    if ((flags & ~HAS_SIZE) !== 0) throw new LtxError(`Page ${page} has unknown flags`)
    checkPageNumber(header, page, this.#before)
    const size = flags === HAS_SIZE ? this.#readSized(view) : this.#readUnsized()
    if (size === 0) return 0
    this.#index.add(page, this.#offset, size)
    this.#before = page
    this.#sink.page({ number: page, data: this.#page })
    return size
  }

  #readSized(view: DataView): number {
    const start = PAGE_HEADER_SIZE + SIZE_FIELD
    if (this.#rest.length < start) return 0
    const size = view.getUint32(PAGE_HEADER_SIZE)
    if (size > blockBound(this.#page.length)) throw new LtxError('A page is larger than a page can be')
    if (this.#rest.length < start + size) return 0
    this.#checkHeld(readBlock(this.#rest.subarray(start, start + size), this.#page))
    this.#crc.update(this.#rest.subarray(0, start))
    this.#crc.update(this.#page)
    return start + size
  }

  #readUnsized(): number {
    const frame = readFrame(this.#rest.subarray(PAGE_HEADER_SIZE), this.#page)
    if (frame === null) {
      if (this.#rest.length > MAX_FRAME) throw new LtxError('A page is larger than a page can be')
      return 0
    }
    this.#checkHeld(frame.held)
    this.#crc.update(this.#rest.subarray(0, PAGE_HEADER_SIZE))
    this.#crc.update(this.#page)
    return PAGE_HEADER_SIZE + frame.taken
  }

  #checkHeld(held: number): void {
    if (held !== this.#page.length) throw new LtxError(`A page holds ${held} bytes`)
  }

  #endPages(header: LtxHeader): number {
    const lock = lockPage(header.pageSize)
    const last = header.commit === lock ? header.commit - 1 : header.commit
    if (isSnapshot(header) && this.#before !== last)
      throw new LtxError(`It ends at page ${this.#before} of ${header.commit}`)
    this.#crc.update(this.#rest.subarray(0, PAGE_HEADER_SIZE))
    const index = this.#index.end()
    const size = new Uint8Array(INDEX_SIZE_FIELD)
    new DataView(size.buffer).setBigUint64(0, BigInt(index.length))
    this.#step = () => this.#readIndex(index, () => this.#readIndex(size, () => this.#readTrailer()))
    return PAGE_HEADER_SIZE
  }

  /** The index has to be the one of the pages that were read; it is compared as it comes. */
  #readIndex(expected: Uint8Array, then: () => number): number {
    const count = Math.min(expected.length, this.#rest.length)
    const here = this.#rest.subarray(0, count)
    if (Buffer.compare(here, expected.subarray(0, count)) !== 0)
      throw new LtxError('Its index is not that of its pages')
    this.#crc.update(here)
    const left = expected.subarray(count)
    this.#step = left.length === 0 ? then : () => this.#readIndex(left, then)
    return count
  }

  #readTrailer(): number {
    if (this.#rest.length < TRAILER_SIZE) return 0
    const view = new DataView(this.#rest.buffer, this.#rest.byteOffset, TRAILER_SIZE)
    this.#crc.update(this.#rest.subarray(0, 8))
    if (view.getBigUint64(8) !== (this.#crc.value | CHECKSUM_FLAG))
      throw new LtxError('Its checksum is not that of its contents')
    this.#isWhole = true
    return TRAILER_SIZE
  }
}
