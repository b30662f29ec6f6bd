import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { Page } from '../../platform/ltx/encode.ts'
import { handOverOpen } from '../../platform/owner.ts'

/** Pages are held and written in blocks of this size, each of whole pages. */
const BLOCK_BYTES = 2 ** 20
export const MAX_RUN_BYTES = BLOCK_BYTES
/** What is more waits in a file: bytes of buffers that are used again are written much faster than those of new ones. */
const BLOCKS_IN_MEMORY = 4

/** Bytes and where they belong. They may be other ones after the next run. */
export type Run = { bytes: Uint8Array; position: number }

/** Pages in rising order that wait to be written into a database file at one go. */
export class PageSpool {
  readonly #path: string
  readonly #pageSize: number
  readonly #perBlock: number
  readonly #numbers: number[] = []
  readonly #blocks: Uint8Array[] = []
  #spilled = 0
  #fd: number | undefined
  #read: Uint8Array | undefined

  /** `path`: where a file may be made, which has no name by the time that anything is in it. */
  constructor(path: string, pageSize: number) {
    this.#path = path
    this.#pageSize = pageSize
    this.#perBlock = BLOCK_BYTES / pageSize
  }

  get sizeBytes(): number {
    return this.#numbers.length * this.#pageSize
  }

  add({ number, data }: Page): void {
    const place = this.#numbers.length % this.#perBlock
    if (place === 0) this.#beginBlock()
    this.#blocks.at(-1)?.set(data, place * this.#pageSize)
    this.#numbers.push(number)
  }

  /** The pages from `first` to `last` with their places in the file, those that follow one another together. */
  *runs(first: number, last: number): Generator<Run> {
    const end = this.#indexOf(last + 1)
    for (let at = this.#indexOf(first); at < end; ) {
      const index = Math.floor(at / this.#perBlock)
      const blockEnd = Math.min(end, (index + 1) * this.#perBlock)
      const block = this.#block(index)
      while (at < blockEnd) {
        const count = this.#countOfRun(at, blockEnd)
        yield this.#run(block, at, count)
        at += count
      }
    }
  }

  discard(): void {
    this.#blocks.length = 0
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  /** The first of the pages whose number is not below this. */
  #indexOf(number: number): number {
    let low = 0
    for (let high = this.#numbers.length; low < high; ) {
      const middle = (low + high) >>> 1
      if ((this.#numbers[middle] as number) < number) low = middle + 1
      else high = middle
    }
    return low
  }

  #countOfRun(from: number, end: number): number {
    const first = this.#numbers[from] as number
    let count = 1
    while (from + count < end && this.#numbers[from + count] === first + count) count += 1
    return count
  }

  #run(block: Uint8Array, from: number, count: number): Run {
    const start = (from % this.#perBlock) * this.#pageSize
    return {
      bytes: block.subarray(start, start + count * this.#pageSize),
      position: ((this.#numbers[from] as number) - 1) * this.#pageSize,
    }
  }

  #beginBlock(): void {
    const last = this.#blocks.at(-1)
    if (last === undefined || this.#blocks.length < BLOCKS_IN_MEMORY) {
      this.#blocks.push(new Uint8Array(BLOCK_BYTES))
      return
    }
    // The last block in memory is used again.
    this.#fd ??= this.#open()
    writeWhole(this.#fd, last, this.#spilled * BLOCK_BYTES)
    this.#spilled += 1
  }

  #open(): number {
    const fd = openSync(this.#path, 'w+', 0o600)
    handOverOpen(fd)
    rmSync(this.#path)
    return fd
  }

  /** In memory are the first blocks but one, and the last. */
  #block(index: number): Uint8Array {
    const kept = BLOCKS_IN_MEMORY - 1
    if (this.#fd === undefined || index < kept) return this.#blocks[index] as Uint8Array
    const spilled = index - kept
    if (spilled === this.#spilled) return this.#blocks[kept] as Uint8Array
    this.#read ??= new Uint8Array(BLOCK_BYTES)
    readSync(this.#fd, this.#read, 0, BLOCK_BYTES, spilled * BLOCK_BYTES)
    return this.#read
  }
}

export function writeWhole(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}
