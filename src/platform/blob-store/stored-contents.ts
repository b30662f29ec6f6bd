import { stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { AppError } from '../../domain/errors.ts'
import { FILE_FOLDER, fileKey, PACK_FOLDER, packKey } from '../../domain/store-keys.ts'
import { type ListedObject, type ObjectStore, StoreError } from '../object-store.ts'
import { BLOCK_BYTES, Blocks, blocksOf } from './blocks.ts'
import { CachedFiles } from './cached-files.ts'
import { ContentMiss } from './content-miss.ts'
import type { LocalContents } from './local-contents.ts'
import type { BlobPlaces, StoredBlob } from './places.ts'
import type { CacheState, RemoteContents, RemoteOptions, Uploads } from './remote.ts'

/**
 * Contents that are in an object store. They are read from what this machine stored itself, or from blocks that it fetched;
 * both may be removed at any time.
 */
export class StoredContents implements RemoteContents, Uploads {
  readonly #dataDir: string
  readonly #places: BlobPlaces
  readonly #local: LocalContents
  readonly #store: ObjectStore
  readonly #epoch: () => number
  readonly #files: CachedFiles
  readonly #blocks: Blocks
  #kept: Map<string, Uint8Array> | undefined
  #hits = 0

  constructor(dataDir: string, places: BlobPlaces, local: LocalContents, remote: RemoteOptions) {
    this.#dataDir = dataDir
    this.#places = places
    this.#local = local
    this.#store = remote.store
    this.#epoch = remote.epoch
    this.#files = new CachedFiles({
      dataDir,
      limitBytes: remote.cacheBytes,
      roomBytes: remote.roomBytes ?? (() => Number.POSITIVE_INFINITY),
      onRemove: (path) => this.#closeRemoved(path),
    })
    this.#blocks = new Blocks({ dataDir, places, files: this.#files, store: remote.store })
  }

  get cache(): CacheState {
    return {
      bytes: this.#files.bytes,
      limitBytes: this.#files.limitBytes,
      hits: this.#hits,
      misses: this.#blocks.misses,
    }
  }

  listed(): Promise<void> {
    return this.#files.listed()
  }

  /** A whole content is compared with its SHA-256; a copy that differs is removed. */
  readSync(blob: StoredBlob): Uint8Array {
    return this.#once(blob.sha256, () => {
      const bytes = this.#read(blob, 0, blob.sizeBytes)
      if (Bun.SHA256.hash(bytes, 'hex') === blob.sha256) return bytes
      this.#drop(blob)
      throw missOf(blob, blocksIn(blob, 0, blob.sizeBytes), true)
    })
  }

  readPartSync(blob: StoredBlob, start: number, end: number): Uint8Array {
    return this.#once(`${blob.sha256} ${start} ${end}`, () => this.#read(blob, start, end))
  }

  keeping<T>(kept: Map<string, Uint8Array>, work: () => T): T {
    this.#kept = kept
    try {
      return work()
    } finally {
      this.#kept = undefined
    }
  }

  /** The local copy, if there is a whole one. */
  file(blob: StoredBlob): Blob | null {
    const path = this.#places.of(blob)
    const { size } = Bun.file(path)
    if (blob.pack === null ? size !== blob.sizeBytes : size < blob.offset + blob.sizeBytes) {
      if (size > 0) this.#files.remove(pathOf(blob))
      return null
    }
    this.#hit(pathOf(blob))
    return this.#local.file(blob)
  }

  /** Throws `ContentMiss` unless the first of these bytes can be sent at once. */
  requireStart(blob: StoredBlob, start: number): void {
    const [first = 0] = blocksIn(blob, start, start + 1)
    if (!this.#blocks.has(keyOf(blob), first)) throw missOf(blob, [first])
  }

  /** Piece by piece, with the next block on its way. A whole content ends in an error where it is not what was stored. */
  async *stream(blob: StoredBlob, start: number, end: number): AsyncGenerator<Uint8Array> {
    const hash = start === 0 && end === blob.sizeBytes ? new Bun.CryptoHasher('sha256') : undefined
    let at = start
    for await (const piece of this.#pieces(blob, start, end)) {
      hash?.update(piece)
      at += piece.length
      // Whoever receives the last piece may take the content for whole.
      if (at === end && hash !== undefined && hash.digest('hex') !== blob.sha256) {
        this.#drop(blob)
        throw new Error(`Stored content ${blob.sha256} is damaged`)
      }
      yield piece
    }
    if (at !== end) throw new Error(`Stored content ${blob.sha256} ends after ${at} of ${end} bytes`)
  }

  /** A damaged copy is fetched anew once. Throws while the store is away: then nothing is known. */
  async verify(blob: StoredBlob): Promise<boolean> {
    return (await this.#isWhole(blob)) || (await this.#isWhole(blob))
  }

  async #isWhole(blob: StoredBlob): Promise<boolean> {
    try {
      for await (const _ of this.stream(blob, 0, blob.sizeBytes));
      return true
    } catch (error) {
      if (error instanceof AppError) throw error
      return false
    }
  }

  async fetch({ key, blocks }: ContentMiss): Promise<void> {
    await Promise.all(blocks.map((block) => this.#blocks.fetch(key, block)))
  }

  async createPack(pack: string, path: string): Promise<void> {
    await this.#create(packKey(pack), path)
  }

  async createFile(sha256: string, object: string, path: string): Promise<void> {
    await this.#create(fileKey(sha256, object), path)
  }

  kept(path: string, bytes: number): Promise<void> {
    return this.#files.admit(relative(this.#dataDir, path), bytes)
  }

  async discard(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      try {
        await this.#store.delete(key, { patienceMs: 0 })
      } catch {
        // Without a row it goes a day later.
        return
      }
    }
  }

  async *list(): AsyncGenerator<ListedObject> {
    yield* this.#store.list(PACK_FOLDER)
    yield* this.#store.list(FILE_FOLDER)
  }

  async packBytes(pack: string): Promise<number> {
    const local = await stat(this.#places.pack(pack)).catch(() => null)
    const sizeBytes = local?.size ?? (await this.#store.head(packKey(pack)))?.sizeBytes
    if (sizeBytes === undefined) throw new Error(`The object store has no pack ${pack}`)
    return sizeBytes
  }

  delete(key: string): Promise<void> {
    return this.#store.delete(key)
  }

  async #create(key: string, path: string): Promise<void> {
    const { outcome } = await this.#store
      .create(key, Bun.file(path), { epoch: this.#epoch() })
      .catch((error) => Promise.reject(notStored(error)))
    if (outcome === 'exists') throw new Error(`The object store has another object ${key}`)
  }

  #once(name: string, read: () => Uint8Array): Uint8Array {
    const known = this.#kept?.get(name)
    if (known !== undefined) return known
    const bytes = read()
    this.#kept?.set(name, bytes)
    return bytes
  }

  #read(blob: StoredBlob, start: number, end: number): Uint8Array {
    if (start >= end) return new Uint8Array()
    const local = this.#readLocal(blob, start, end)
    if (local !== undefined) return local
    const from = blob.offset
    const found = this.#blocks.readSync(keyOf(blob), from + start, from + end)
    if (!(found instanceof Uint8Array)) throw missOf(blob, found)
    this.#hits += 1
    return found
  }

  #readLocal(blob: StoredBlob, start: number, end: number): Uint8Array | undefined {
    try {
      const bytes = this.#local.readSync(blob, start, end)
      this.#hit(pathOf(blob))
      return bytes
    } catch {
      return undefined
    }
  }

  async *#pieces(blob: StoredBlob, start: number, end: number): AsyncGenerator<Uint8Array> {
    const file = this.file(blob)
    if (file !== null) {
      yield* file.slice(start, end).stream()
      return
    }
    const [from, to] = [blob.offset + start, blob.offset + end]
    const blocks = start < end ? blocksOf(from, to) : []
    const key = keyOf(blob)
    const ask = (block: number | undefined) => (block === undefined ? undefined : this.#block(key, block, to))
    let next = ask(blocks[0])
    for (const [i, block] of blocks.entries()) {
      const bytes = await next
      next = ask(blocks[i + 1])
      next?.catch(() => {})
      const first = block * BLOCK_BYTES
      if (bytes !== undefined) yield bytes.subarray(Math.max(from - first, 0), to - first)
    }
  }

  /** A block from its copy, else from the store; no further than `end` of the object. */
  async #block(key: string, block: number, end: number): Promise<Uint8Array> {
    const start = block * BLOCK_BYTES
    const found = this.#blocks.readSync(key, start, Math.min(start + BLOCK_BYTES, end))
    return found instanceof Uint8Array ? found : this.#blocks.fetch(key, block)
  }

  /** Removes the copies of a content, and of what shares blocks or a pack with it. */
  #drop(blob: StoredBlob): void {
    this.#files.remove(pathOf(blob))
    this.#blocks.drop(keyOf(blob), blocksIn(blob, 0, blob.sizeBytes))
  }

  #hit(path: string): void {
    this.#hits += 1
    this.#files.touch(path)
  }

  #closeRemoved(path: string): void {
    const pack = /^blobs\/packs\/(.+)\.pack$/.exec(path)?.[1]
    if (pack !== undefined) this.#local.close(pack)
  }
}

const notStored = (error: unknown): unknown =>
  error instanceof StoreError && (error.isTransient || error.isSetting)
    ? new AppError(
        'unavailable',
        'The object store cannot be reached, so nothing was stored; try again in a few seconds.',
        { code: 'STORE_UNREACHABLE', headers: { 'retry-after': '5' }, cause: error },
      )
    : error

/** Below the data directory. */
const pathOf = ({ pack, sha256 }: StoredBlob): string =>
  pack === null ? join('blobs/files', sha256.slice(0, 2), sha256) : `blobs/packs/${pack}.pack`

function keyOf({ sha256, pack, object }: StoredBlob): string {
  if (pack !== null) return packKey(pack)
  if (object === null) throw new Error(`Stored content ${sha256} has no object in the object store`)
  return fileKey(sha256, object)
}

const blocksIn = ({ offset }: StoredBlob, start: number, end: number): number[] =>
  end > start ? blocksOf(offset + start, offset + end) : []

const missOf = (blob: StoredBlob, blocks: readonly number[], isDamage = false): ContentMiss =>
  new ContentMiss(blob.sha256, { key: keyOf(blob), blocks, isDamage })
