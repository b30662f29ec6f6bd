import { rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Traits, traitsOf } from '../../domain/content-traits.ts'
import { AppError } from '../../domain/errors.ts'
import { fileKey, packKey } from '../../domain/store-keys.ts'
import { ByteCollector, type ByteStream, tooLarge } from '../byte-stream.ts'
import { DurableFile, syncFolder, toStorageError } from '../durable-file.ts'
import { makeFolder } from '../owner.ts'
import { ContentSample } from './content-sample.ts'
import type { BlobPlaces, StoredBlob } from './places.ts'
import type { Uploads } from './remote.ts'

/** Contents up to this size share a pack; larger ones are files of their own. */
const PACKED_BYTES = 1024 * 1024
/** Large files that go into an object store at a time. */
const CREATED_AT_ONCE = 4

/** `damaged`: it has a row, but its bytes must be written again. */
export type BlobState = 'absent' | 'stored' | 'damaged'

export type AddedBlob = { sha256: string; sizeBytes: number }

/** A content that a stage has written, with what its bytes say. */
export type StagedBlob = StoredBlob & { traits: Traits }

/** One upload on its way to the disk. A failed `add` leaves the stage as if that content had never come. */
export type BlobStage = {
  /**
   * Hashes while writing, in constant memory. Does not write a content again that is stored or was added before. Fails
   * with `too_large` over `limitBytes`, and with `invalid` if the bytes do not match `expectedSha256` (lower-case hex).
   */
  add(body: ByteStream | Uint8Array, limitBytes?: number, expectedSha256?: string): Promise<AddedBlob>
  /** The same for one of thousands of small contents. If it returns a promise, await it before adding the next. */
  addSmall(bytes: Uint8Array, expectedSha256: string): Promise<void> | undefined
  /**
   * Announces the contents that may come. `listStored` is called once and returns those that are stored, which stay
   * until the stage ends. Afterwards no content is looked up individually.
   */
  expect(sha256s: Iterable<string>, listStored: () => Iterable<string>): void
  /**
   * Returns the contents that this stage has written; bytes and names are durable, and in the object store if there is
   * one, when it resolves. Two uploads of the
   * same small content write a copy each: the one whose row loses (INSERT OR IGNORE) is dead space in its pack.
   */
  seal(): Promise<StagedBlob[]>
  /**
   * Removes what this stage has written, unless another stage needs it or has committed it. May be called at any time,
   * repeatedly.
   */
  discard(): Promise<void>
  /** Call it after the commit: the garbage collector may consider these contents again. */
  release(): void
}

/**
 * What happens to a content: nothing (it is stored), a place in the pack, or a file that still has a temporary name.
 */
type Content =
  | { kind: 'stored' }
  | { kind: 'packed'; sizeBytes: number; traits: Traits; offset: number }
  | { kind: 'file'; sizeBytes: number; traits: Traits; file: DurableFile; object: string | null }

export class Stage implements BlobStage {
  readonly #places: BlobPlaces
  readonly #stateOf: (sha256: string) => BlobState
  readonly #contents = new Map<string, Content>()
  /**
   * The contents from `expect`, and whether each was stored then. A row added since costs a copy; no row can have been
   * deleted.
   */
  readonly #expected = new Map<string, boolean>()
  #packFile: { id: string; file: DurableFile } | undefined
  #state: 'open' | 'sealing' | 'sealed' | 'ended' = 'open'
  /** The large file that is being synced while the next content arrives. */
  #syncing: Promise<unknown> = Promise.resolve()
  /** Null where contents are on the local disk alone. */
  readonly #uploads: Uploads | null
  /** Objects that this stage has made, or begun. */
  readonly #objects: string[] = []

  constructor(places: BlobPlaces, stateOf: (sha256: string) => BlobState, uploads: Uploads | null = null) {
    this.#places = places
    this.#stateOf = stateOf
    this.#uploads = uploads
  }

  async add(
    body: ByteStream | Uint8Array,
    limitBytes = Number.POSITIVE_INFINITY,
    expectedSha256?: string,
  ): Promise<AddedBlob> {
    if (this.#state !== 'open') throw new Error('The stage takes no more contents')
    try {
      if (!(body instanceof Uint8Array)) return await this.#addStream(body, limitBytes, expectedSha256)
      if (body.length > limitBytes) throw tooLarge('The file', limitBytes)
      if (body.length <= PACKED_BYTES) return await this.#addWhole(body, expectedSha256)
      return await this.#addStream(slices(body), limitBytes, expectedSha256)
    } catch (error) {
      throw toStorageError(error)
    }
  }

  addSmall(bytes: Uint8Array, expectedSha256: string): Promise<void> | undefined {
    if (this.#state !== 'open') throw new Error('The stage takes no more contents')
    if (bytes.length > PACKED_BYTES) throw new Error(`${bytes.length} bytes are too many for a small content`)
    try {
      expectHash(Bun.SHA256.hash(bytes, 'hex'), expectedSha256)
      return this.#pack(expectedSha256, bytes)?.catch((error) => {
        throw toStorageError(error)
      })
    } catch (error) {
      throw toStorageError(error)
    }
  }

  expect(sha256s: Iterable<string>, listStored: () => Iterable<string>): void {
    if (this.#state !== 'open') throw new Error('The stage takes no more contents')
    for (const sha256 of sha256s) {
      if (this.#expected.has(sha256)) continue
      this.#places.pin(sha256)
      this.#expected.set(sha256, false)
    }
    for (const sha256 of listStored()) if (this.#expected.has(sha256)) this.#expected.set(sha256, true)
  }

  async seal(): Promise<StagedBlob[]> {
    if (this.#state !== 'open') throw new Error('The stage was sealed before')
    this.#state = 'sealing'
    try {
      await this.#syncing
      await this.#sealPack()
      if (this.#uploads !== null) await this.#createFiles(this.#uploads)
      await this.#sealFiles()
    } catch (error) {
      throw toStorageError(error)
    }
    this.#state = 'sealed'
    return [...this.#contents].flatMap(([sha256, content]) => this.#located(sha256, content))
  }

  async discard(): Promise<void> {
    if (this.#state === 'ended') return
    this.#state = 'ended'
    await this.#syncing.catch(() => undefined)
    await this.#removePack()
    this.#unpin()
    for (const [sha256, content] of this.#contents) {
      if (content.kind !== 'file') continue
      await this.#removeTmp(content.file)
      // Sealed by us, or by a stage that had the same content and left it to us: without a row it belongs to nobody.
      if (this.#stateOf(sha256) === 'absent') await this.#places.removeUnpinned(sha256)
    }
    await this.#uploads?.discard(this.#objects)
  }

  release(): void {
    if (this.#state !== 'sealed') throw new Error('Only a sealed stage can be released')
    this.#state = 'ended'
    this.#unpin()
  }

  async #addWhole(bytes: Uint8Array, expectedSha256: string | undefined): Promise<AddedBlob> {
    const sha256 = Bun.SHA256.hash(bytes, 'hex')
    expectHash(sha256, expectedSha256)
    const wait = this.#pack(sha256, bytes)
    if (wait !== undefined) await wait
    return { sha256, sizeBytes: bytes.length }
  }

  #pack(sha256: string, bytes: Uint8Array): Promise<void> | undefined {
    if (!this.#isNew(sha256)) return undefined
    this.#packFile ??= this.#openPack()
    const { file } = this.#packFile
    const traits = traitsOf(bytes)
    this.#contents.set(sha256, { kind: 'packed', sizeBytes: bytes.length, traits, offset: file.sizeBytes })
    return file.append(bytes)
  }

  /** Buffers up to the size of a packed content; anything larger continues in a file. */
  async #addStream(
    body: ByteStream,
    limitBytes: number,
    expectedSha256: string | undefined,
  ): Promise<AddedBlob> {
    const gathered = new ByteCollector()
    let large: LargeContent | undefined
    let sizeBytes = 0
    try {
      for await (const chunk of body) {
        sizeBytes += chunk.length
        if (sizeBytes > limitBytes) throw tooLarge('The file', limitBytes)
        if (large === undefined && sizeBytes > PACKED_BYTES) {
          large = new LargeContent(this.#places.newTmp())
          await large.append(gathered.bytes())
          gathered.clear()
        }
        if (large === undefined) gathered.push(chunk)
        else await large.append(chunk)
      }
      if (large === undefined) return await this.#addWhole(gathered.bytes(), expectedSha256)
      return { sha256: await this.#addLarge(large, expectedSha256), sizeBytes }
    } catch (error) {
      if (large !== undefined) await this.#removeTmp(large.file)
      throw error
    }
  }

  async #addLarge(large: LargeContent, expected: string | undefined): Promise<string> {
    const { file, sample } = large
    const sha256 = large.hash.digest('hex')
    expectHash(sha256, expected)
    if (!this.#isNew(sha256)) {
      await this.#removeTmp(file)
      return sha256
    }
    const traits = sample.traits()
    const object = this.#uploads === null ? null : this.#places.newObjectId()
    this.#contents.set(sha256, { kind: 'file', sizeBytes: file.sizeBytes, traits, file, object })
    const before = this.#syncing
    this.#syncing = Promise.all([before, file.finish({ durable: true })])
    this.#syncing.catch(() => undefined) // seal() reports it
    await before
    return sha256
  }

  /** Pins the content and returns whether this stage must write its bytes. */
  #isNew(sha256: string): boolean {
    if (this.#contents.has(sha256)) return false
    const isStored = this.#expected.get(sha256) ?? this.#stateOf(sha256) === 'stored'
    this.#places.pin(sha256)
    if (isStored) this.#contents.set(sha256, { kind: 'stored' })
    return !isStored
  }

  #unpin(): void {
    for (const sha256 of this.#contents.keys()) this.#places.unpin(sha256)
    for (const sha256 of this.#expected.keys()) this.#places.unpin(sha256)
  }

  #openPack(): { id: string; file: DurableFile } {
    return {
      id: this.#places.newPackId(),
      file: new DurableFile(this.#places.newTmp(), { syncsEarly: true }),
    }
  }

  async #sealPack(): Promise<void> {
    if (this.#packFile === undefined) return
    const { id, file } = this.#packFile
    await file.finish({ durable: true })
    if (this.#uploads !== null) {
      this.#objects.push(packKey(id))
      await this.#uploads.createPack(id, file.path)
      makeFolder(this.#places.packs)
    }
    await rename(file.path, this.#places.pack(id))
    this.#places.forgetTmp(file.path)
    await syncFolder(this.#places.packs)
    await this.#uploads?.kept(this.#places.pack(id), file.sizeBytes)
  }

  async #createFiles(uploads: Uploads): Promise<void> {
    const files = [...this.#contents].flatMap(([sha256, content]) =>
      content.kind === 'file' && content.object !== null
        ? [{ sha256, object: content.object, path: content.file.path }]
        : [],
    )
    for (let start = 0; start < files.length; start += CREATED_AT_ONCE) {
      const some = files.slice(start, start + CREATED_AT_ONCE)
      this.#objects.push(...some.map(({ sha256, object }) => fileKey(sha256, object)))
      const ended = await Promise.allSettled(
        some.map(({ sha256, object, path }) => uploads.createFile(sha256, object, path)),
      )
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    }
  }

  async #sealFiles(): Promise<void> {
    const folders = new Set<string>()
    for (const [sha256, content] of this.#contents) {
      if (content.kind !== 'file') continue
      const path = this.#places.file(sha256)
      const folder = dirname(path)
      if (!folders.has(folder)) makeFolder(folder)
      folders.add(folder)
      await rename(content.file.path, path)
      this.#places.forgetTmp(content.file.path)
      await this.#uploads?.kept(path, content.sizeBytes)
    }
    // Sync the parent folder too, even if it existed: another upload may have created it and not synced it yet.
    if (folders.size > 0) folders.add(this.#places.files)
    for (const folder of folders) await syncFolder(folder)
  }

  #located(sha256: string, content: Content): StagedBlob[] {
    if (content.kind === 'stored') return []
    const { sizeBytes, traits } = content
    if (content.kind === 'file')
      return [{ sha256, sizeBytes, traits, pack: null, offset: 0, object: content.object }]
    const pack = this.#packFile?.id ?? null
    return [{ sha256, sizeBytes, traits, pack, offset: content.offset, object: null }]
  }

  async #removePack(): Promise<void> {
    if (this.#packFile === undefined) return
    await this.#removeTmp(this.#packFile.file)
    await this.#places.removePack(this.#packFile.id)
  }

  async #removeTmp(file: DurableFile): Promise<void> {
    await file.remove()
    this.#places.forgetTmp(file.path)
  }
}

class LargeContent {
  readonly file: DurableFile
  readonly hash = new Bun.CryptoHasher('sha256')
  readonly sample = new ContentSample()

  constructor(path: string) {
    this.file = new DurableFile(path, { syncsEarly: true })
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.hash.update(bytes)
    this.sample.push(bytes)
    await this.file.append(bytes)
  }
}

function expectHash(sha256: string, expected: string | undefined): void {
  if (expected === undefined || expected === sha256) return
  throw new AppError('invalid', `The bytes sent as ${expected} have the SHA-256 ${sha256}`)
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PACKED_BYTES)
    yield bytes.subarray(start, start + PACKED_BYTES)
}
