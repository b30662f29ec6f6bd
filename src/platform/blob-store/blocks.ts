import { closeSync, openSync, readSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import { DurableFile } from '../durable-file.ts'
import { type ObjectStore, StoreError } from '../object-store.ts'
import { makeFolder } from '../owner.ts'
import type { CachedFiles } from './cached-files.ts'
import type { BlobPlaces } from './places.ts'

/** Objects are fetched in aligned blocks of this size. */
export const BLOCK_BYTES = 1024 * 1024
const FETCHED_AT_ONCE = 16
/** While the store is away, what is asked for within this time is refused at once. */
const AWAY_MS = 1_000
const PATIENCE_MS = 2_000
/** Blocks that the disk did not take. */
const HELD = 16

/** The blocks of objects that are on this machine, and how the others come. */
export class Blocks {
  misses = 0
  readonly #dataDir: string
  readonly #places: BlobPlaces
  readonly #files: CachedFiles
  readonly #store: ObjectStore
  readonly #running = new Map<string, Promise<Uint8Array>>()
  readonly #held = new Map<string, Uint8Array>()
  readonly #queue: (() => void)[] = []
  #fetching = 0
  #awayUntil = 0

  constructor(parts: { dataDir: string; places: BlobPlaces; files: CachedFiles; store: ObjectStore }) {
    this.#dataDir = parts.dataDir
    this.#places = parts.places
    this.#files = parts.files
    this.#store = parts.store
  }

  /** The bytes from `start` to `end` of an object, or the numbers of the blocks that must be fetched first. */
  readSync(key: string, start: number, end: number): Uint8Array | number[] {
    const bytes = new Uint8Array(end - start)
    const missing = blocksOf(start, end).filter((block) => {
      const from = Math.max(start, block * BLOCK_BYTES)
      const into = bytes.subarray(from - start, Math.min(end, (block + 1) * BLOCK_BYTES) - start)
      return !this.#fill(into, key, block, from - block * BLOCK_BYTES)
    })
    return missing.length === 0 ? bytes : missing
  }

  /** Whether a block is here. */
  has(key: string, block: number): boolean {
    return this.#fill(new Uint8Array(1), key, block, 0)
  }

  /** Fetches a block, once for all who ask meanwhile. */
  fetch(key: string, block: number): Promise<Uint8Array> {
    const path = pathOf(key, block)
    const running = this.#running.get(path)
    if (running !== undefined) return running
    const mine = this.#inTurn(() => this.#fetch(key, block)).finally(() => this.#running.delete(path))
    this.#running.set(path, mine)
    return mine
  }

  drop(key: string, blocks: readonly number[]): void {
    for (const block of blocks) {
      this.#held.delete(pathOf(key, block))
      this.#files.remove(pathOf(key, block))
    }
  }

  /** False if it is not there, or too short. */
  #fill(into: Uint8Array, key: string, block: number, position: number): boolean {
    const path = pathOf(key, block)
    const held = this.#held.get(path)
    if (held !== undefined) {
      into.set(held.subarray(position, position + into.length))
      return held.length >= position + into.length
    }
    let file: number
    try {
      file = openSync(join(this.#dataDir, path), 'r')
    } catch {
      return false
    }
    try {
      for (let done = 0; done < into.length; ) {
        const count = readSync(file, into, done, into.length - done, position + done)
        if (count === 0) return false
        done += count
      }
    } finally {
      closeSync(file)
    }
    this.#files.touch(path)
    return true
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fetching >= FETCHED_AT_ONCE) await new Promise<void>((resolve) => this.#queue.push(resolve))
    this.#fetching += 1
    try {
      return await work()
    } finally {
      this.#fetching -= 1
      this.#queue.shift()?.()
    }
  }

  async #fetch(key: string, block: number): Promise<Uint8Array> {
    if (performance.now() < this.#awayUntil) throw unreachable()
    this.misses += 1
    const bytes = await this.#ask(key, block)
    await this.#keep(key, block, bytes)
    return bytes
  }

  async #ask(key: string, block: number): Promise<Uint8Array> {
    try {
      const call = { patienceMs: PATIENCE_MS }
      const range = await this.#store.getRange(key, block * BLOCK_BYTES, BLOCK_BYTES, call)
      if (range !== null) return range.bytes
    } catch (error) {
      if (!(error instanceof StoreError) || !(error.isTransient || error.isSetting)) throw error
      if (error.kind === 'unreachable') this.#awayUntil = performance.now() + AWAY_MS
      throw unreachable(error)
    }
    throw new Error(`The object store has no object ${key}`)
  }

  /** Where the disk does not take the block it stays in memory for a while, so that whoever asked can go on. */
  async #keep(key: string, block: number, bytes: Uint8Array): Promise<void> {
    const path = pathOf(key, block)
    try {
      if (await this.#files.add(path, bytes.length, () => this.#write(path, bytes))) return
    } catch {
      // Held below.
    }
    this.#held.set(path, bytes)
    const [oldest] = this.#held.keys()
    if (this.#held.size > HELD && oldest !== undefined) this.#held.delete(oldest)
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const target = join(this.#dataDir, path)
    makeFolder(this.#places.tmp)
    const file = new DurableFile(this.#places.newTmp())
    try {
      await file.append(bytes)
      await file.finish({ durable: false })
      makeFolder(dirname(target))
      await rename(file.path, target)
    } finally {
      await file.remove()
      this.#places.forgetTmp(file.path)
    }
  }
}

/** The numbers of the blocks with the bytes from `start` to `end`. */
export function blocksOf(start: number, end: number): number[] {
  const first = Math.floor(start / BLOCK_BYTES)
  return Array.from({ length: Math.ceil(end / BLOCK_BYTES) - first }, (_, i) => first + i)
}

const pathOf = (key: string, block: number): string => `cache/${key}/${block}`

const unreachable = (cause?: unknown): AppError =>
  new AppError(
    'unavailable',
    'What is stored at this address cannot be reached at the moment; try again in a few seconds.',
    { code: 'CONTENT_UNREACHABLE', headers: { 'retry-after': '5' }, cause },
  )
