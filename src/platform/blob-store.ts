import { constants } from 'node:fs'
import { access, rename, stat } from 'node:fs/promises'
import { type ContentMiss, withContents } from './blob-store/content-miss.ts'
import { LocalContents } from './blob-store/local-contents.ts'
import { BlobPlaces, type StoredBlob } from './blob-store/places.ts'
import type { RemoteContents, RemoteOptions, Uploads } from './blob-store/remote.ts'
import { type BlobStage, type BlobState, Stage } from './blob-store/stage.ts'
import type { StoredContents } from './blob-store/stored-contents.ts'
import { sweepBlobs } from './blob-store/sweep.ts'
import { type ByteStream, givingBack, limitBytes } from './byte-stream.ts'
import { DurableFile, syncFolder, toStorageError } from './durable-file.ts'
import { makeFolder } from './owner.ts'

export { ContentMiss, withContents } from './blob-store/content-miss.ts'
export type { StoredBlob } from './blob-store/places.ts'
export type { CacheState, RemoteContents, RemoteOptions } from './blob-store/remote.ts'
export type { AddedBlob, BlobStage, BlobState, StagedBlob } from './blob-store/stage.ts'

/** A body kept on disk for as long as something needs random access to it. */
export type SpooledFile = { path: string; sizeBytes: number; remove(): Promise<void> }

/**
 * Stores contents by their SHA-256 in lower-case hex. The caller keeps their positions (`StoredBlob`) as rows. Every
 * method fails with `AppError('storage_full')` if the disk is full.
 *
 * Where contents are in an object store, the local files are a cache of it: what reads throws `ContentMiss` for what must be
 * fetched first, unless it is run by `withContents`.
 */
export type BlobStore = {
  /** Changes when stored bytes are replaced: whoever keeps bytes in memory then drops them. */
  replacements: number
  /** `stateOf` is `absent` for contents without a committed row, whoever uploaded them. */
  stage(stateOf: (sha256: string) => BlobState): BlobStage
  /**
   * Whether a running upload relies on this content, so that its row and bytes must stay. Ask inside the transaction
   * that deletes.
   */
  isPinned(sha256: string): boolean
  /** Null where contents are on the local disk alone. */
  readonly remote: RemoteContents | null
  /** The whole content. Throws if its file is missing or too short. */
  readSync(blob: StoredBlob): Uint8Array
  /** The same for the bytes from `start` to `end`. */
  readPartSync(blob: StoredBlob, start: number, end: number): Uint8Array
  /**
   * Reads lazily, so it suits contents of any size and ranges (`slice`). Null if it is not on this machine: then there is
   * `stream`.
   */
  file(blob: StoredBlob): Blob | null
  /** Throws `ContentMiss` unless a `stream` from `start` on can begin at once. */
  requireStart(blob: StoredBlob, start: number): void
  /** Fetches what is missing as it goes. What was fetched and is not what was stored ends in an error. */
  stream(blob: StoredBlob, start?: number, end?: number): AsyncGenerator<Uint8Array>
  /** For `withContents`. */
  fetch(miss: ContentMiss): Promise<void>
  keeping<T>(kept: Map<string, Uint8Array>, work: () => T): T
  /** For contents in files of their own whose rows are deleted. Keeps those that an upload has pinned since. */
  removeFiles(sha256s: readonly string[]): Promise<void>
  /** For a pack without rows. */
  removePack(pack: string): Promise<void>
  /** Copies the live contents into a new, durable pack. The caller commits the rows, then removes the old pack. */
  rewritePack(pack: string, live: readonly StoredBlob[]): Promise<StoredBlob[]>
  /** The size of a pack with what is dead in it. */
  packBytes(pack: string): Promise<number>
  /** Removes what a crash left behind, but nothing that this process is writing. Returns the number of files. */
  sweep(isKnown: (name: { pack: string } | { sha256: string }) => boolean): Promise<number>
  /** Stores a body in a temporary file, such as a zip, whose directory is at its end. `what` as in `limitBytes`. */
  spool(body: ByteStream, maxBytes: number, what: string): Promise<SpooledFile>
  /** The health check: looks for the content folders, and writes, syncs, reads and removes a small file. */
  probe(): Promise<void>
  /** Hashes the stored bytes again; false if they are missing or differ from those that were stored. */
  verify(blob: StoredBlob): Promise<boolean>
  close(): void
}

export async function openBlobStore(
  dataDir: string,
  newId: () => string,
  remote: RemoteOptions | null = null,
): Promise<BlobStore> {
  const places = new BlobPlaces(dataDir, newId)
  await places.create()
  const local = new LocalContents(places)
  if (remote === null) return localStore(places, local)
  const { StoredContents } = await import('./blob-store/stored-contents.ts')
  return remoteStore(places, local, new StoredContents(dataDir, places, local, remote))
}

function localStore(places: BlobPlaces, local: LocalContents): BlobStore {
  const readSync = (blob: StoredBlob) => local.readSync(blob, 0, blob.sizeBytes)
  const store: BlobStore = {
    ...commonStore(places, local),
    remote: null,
    stage: (stateOf) => new Stage(places, stateOf),
    readSync,
    readPartSync: (blob, start, end) => local.readSync(blob, start, end),
    file: (blob) => local.file(blob),
    requireStart() {},
    stream: (blob, start = 0, end = blob.sizeBytes) => streamOf(local.file(blob), start, end),
    fetch: async (miss) => {
      throw miss
    },
    keeping: (_kept, work) => work(),
    rewritePack: (pack, live) => rewritePack(places, pack, live, async (blob) => readSync(blob)),
    packBytes: async (pack) => (await stat(places.pack(pack))).size,
    probe: () => probe(places),
    verify: (blob) => verify(places, blob),
  }
  return store
}

function remoteStore(places: BlobPlaces, local: LocalContents, contents: StoredContents): BlobStore {
  const common = commonStore(places, local)
  const store: BlobStore = {
    ...common,
    remote: contents,
    stage: (stateOf) => new Stage(places, stateOf, contents),
    readSync: (blob) => contents.readSync(blob),
    readPartSync: (blob, start, end) => contents.readPartSync(blob, start, end),
    file: (blob) => contents.file(blob),
    requireStart: (blob, start) => contents.requireStart(blob, start),
    stream: (blob, start = 0, end = blob.sizeBytes) => contents.stream(blob, start, end),
    fetch: (miss) => contents.fetch(miss),
    keeping: (kept, work) => contents.keeping(kept, work),
    rewritePack: (pack, live) =>
      rewritePack(
        places,
        pack,
        live,
        async (blob) => withContents({ blobs: store }, () => contents.readSync(blob)),
        contents,
      ),
    packBytes: (pack) => contents.packBytes(pack),
    async removeFiles(sha256s) {
      await common.removeFiles(sha256s)
      for (const sha256 of sha256s) contents.gone({ pack: null, sha256 })
    },
    async removePack(pack) {
      await common.removePack(pack)
      contents.gone({ pack, sha256: '' })
    },
    async probe() {
      await places.create()
      await probe(places)
    },
    verify: (blob) => contents.verify(blob),
  }
  return store
}

/** What does not depend on where contents are. */
const commonStore = (places: BlobPlaces, local: LocalContents) => ({
  replacements: 0,
  isPinned: (sha256: string) => places.isPinned(sha256),
  async removeFiles(sha256s: readonly string[]) {
    for (const sha256 of sha256s) await places.removeUnpinned(sha256)
  },
  async removePack(pack: string) {
    local.close(pack)
    await places.removePack(pack)
  },
  sweep: (isKnown: (name: { pack: string } | { sha256: string }) => boolean) => sweepBlobs(places, isKnown),
  spool: (body: ByteStream, maxBytes: number, what: string) =>
    spool(places, limitBytes(body, maxBytes, what)),
  close: () => local.closeAll(),
})

async function* streamOf(file: Blob, start: number, end: number): AsyncGenerator<Uint8Array> {
  yield* file.slice(start, end).stream()
}

async function rewritePack(
  places: BlobPlaces,
  oldPack: string,
  live: readonly StoredBlob[],
  read: (blob: StoredBlob) => Promise<Uint8Array>,
  uploads: Uploads | null = null,
): Promise<StoredBlob[]> {
  const pack = places.newPackId()
  return withTmp(places, async (file) => {
    const moved: StoredBlob[] = []
    for (const blob of live) {
      if (blob.pack !== oldPack)
        throw new Error(`Stored content ${blob.sha256} is not in the pack ${oldPack}`)
      const bytes = await read(blob)
      if (Bun.SHA256.hash(bytes, 'hex') !== blob.sha256)
        throw new Error(`Stored content ${blob.sha256} is damaged`)
      moved.push({ ...blob, pack, offset: file.sizeBytes })
      await file.append(bytes)
    }
    await file.finish({ durable: true })
    await uploads?.createPack(pack, file.path)
    makeFolder(places.packs)
    await rename(file.path, places.pack(pack))
    places.forgetTmp(file.path)
    await syncFolder(places.packs)
    await uploads?.kept(places.pack(pack), file.sizeBytes)
    return moved
  })
}

async function spool(places: BlobPlaces, body: ByteStream): Promise<SpooledFile> {
  return withTmp(places, async (file) => {
    for await (const chunk of body) await file.append(chunk)
    await file.finish({ durable: false })
    return { path: file.path, sizeBytes: file.sizeBytes, remove: () => places.removeTmp(file.path) }
  })
}

async function probe(places: BlobPlaces): Promise<void> {
  await withTmp(places, async (file) => {
    for (const folder of [places.packs, places.files]) await access(folder, constants.R_OK | constants.W_OK)
    await file.append(Buffer.from(file.path))
    await file.finish({ durable: true })
    const found = await Bun.file(file.path).text()
    await places.removeTmp(file.path)
    if (found !== file.path)
      throw new Error(`Storage returned different bytes than were written to ${file.path}`)
  })
}

/** Runs `work` with a new temporary file, and removes the file if that fails. */
async function withTmp<T>(places: BlobPlaces, work: (file: DurableFile) => Promise<T>): Promise<T> {
  let file: DurableFile | undefined
  try {
    file = new DurableFile(places.newTmp())
    return await work(file)
  } catch (error) {
    if (file !== undefined) {
      await file.remove()
      places.forgetTmp(file.path)
    }
    throw toStorageError(error)
  }
}

async function verify(places: BlobPlaces, blob: StoredBlob): Promise<boolean> {
  const hash = new Bun.CryptoHasher('sha256')
  const whole = Bun.file(places.of(blob))
  // A file of its own must not be too long either.
  const stored = blob.pack === null ? whole : whole.slice(blob.offset, blob.offset + blob.sizeBytes)
  let sizeBytes = 0
  try {
    for await (const chunk of givingBack(stored.stream())) {
      sizeBytes += chunk.length
      hash.update(chunk)
    }
  } catch {
    return false
  }
  return sizeBytes === blob.sizeBytes && hash.digest('hex') === blob.sha256
}
