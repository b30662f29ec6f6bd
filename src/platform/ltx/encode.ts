import { Crc64 } from './crc64.ts'
import {
  CHECKSUM_FLAG,
  checkPageNumber,
  HAS_SIZE,
  INDEX_SIZE_FIELD,
  type LtxHeader,
  PAGE_HEADER_SIZE,
  SIZE_FIELD,
  TRAILER_SIZE,
  writeHeader,
} from './format.ts'
import { literalHead } from './lz4.ts'
import { PageIndex } from './page-index.ts'

/** A page of the database; `number` counts from 1. */
export type Page = { number: number; data: Uint8Array }

/**
 * Writes an LTX file: give it the pages in rising order, and pass on what each call returns. Pages are stored as they are, which
 * costs no time and any reader of LTX takes.
 */
export class LtxEncoder {
  readonly #header: LtxHeader
  readonly #crc = new Crc64()
  readonly #index = new PageIndex()
  /** Before each page: its size, and the beginning of its block. */
  readonly #head: Uint8Array
  #offset = 0
  #before = 0

  constructor(header: LtxHeader) {
    this.#header = header
    const block = literalHead(header.pageSize)
    this.#head = new Uint8Array(PAGE_HEADER_SIZE + SIZE_FIELD + block.length)
    const view = new DataView(this.#head.buffer)
    view.setUint16(4, HAS_SIZE)
    view.setUint32(PAGE_HEADER_SIZE, block.length + header.pageSize)
    this.#head.set(block, PAGE_HEADER_SIZE + SIZE_FIELD)
  }

  begin(): Uint8Array<ArrayBuffer> {
    return this.#stored(writeHeader(this.#header))
  }

  /** The frame of one page. */
  page({ number, data }: Page): Uint8Array<ArrayBuffer> {
    checkPageNumber(this.#header, number, this.#before)
    const frame = new Uint8Array(this.#head.length + data.length)
    frame.set(this.#head)
    frame.set(data, this.#head.length)
    new DataView(frame.buffer).setUint32(0, number)
    this.#crc.update(frame.subarray(0, PAGE_HEADER_SIZE + SIZE_FIELD))
    this.#crc.update(data)
    this.#index.add(number, this.#offset, frame.length)
    this.#offset += frame.length
    this.#before = number
    return frame
  }

  /** The end of the pages, their index, and the trailer. */
  *end(): Generator<Uint8Array<ArrayBuffer>> {
    yield this.#stored(new Uint8Array(PAGE_HEADER_SIZE))
    const index = this.#index.end()
    yield this.#stored(index)
    yield this.#stored(bigEndian(BigInt(index.length), INDEX_SIZE_FIELD))
    const trailer = new Uint8Array(TRAILER_SIZE)
    this.#crc.update(trailer.subarray(0, 8))
    trailer.set(bigEndian(this.#crc.value | CHECKSUM_FLAG, 8), 8)
    yield trailer
  }

  #stored(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#crc.update(bytes)
    this.#offset += bytes.length
    return bytes
  }
}

function bigEndian(value: bigint, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size)
  new DataView(bytes.buffer).setBigUint64(0, value)
  return bytes
}

/** The whole file, for batches that are in memory anyway. */
export function encodeLtx(header: LtxHeader, pages: Iterable<Page>): Uint8Array<ArrayBuffer> {
  const encoder = new LtxEncoder(header)
  const parts = [encoder.begin()]
  for (const page of pages) parts.push(encoder.page(page))
  parts.push(...encoder.end())
  return Buffer.concat(parts)
}
