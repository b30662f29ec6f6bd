import { closeSync, constants, openSync, readSync } from 'node:fs'
import { access, rename } from 'node:fs/promises'
import { BlobPlaces, type StoredBlob } from './blob-store/places.ts'
import { type BlobStage, type BlobState, Stage } from './blob-store/stage.ts'
import { sweepBlobs } from './blob-store/sweep.ts'
import { type ByteStream, limitBytes } from './byte-stream.ts'
import { DurableFile, syncFolder, toStorageError } from './durable-file.ts'

export type { StoredBlob } from './blob-store/places.ts'
export type { AddedBlob, BlobStage, BlobState, StagedBlob } from './blob-store/stage.ts'

/** A body kept on disk for as long as something needs random access to it. */
export type SpooledFile = { path: string; sizeBytes: number; remove(): Promise<void> }

/**
 * Stores contents by their SHA-256 in lower-case hex. The caller keeps their positions (`StoredBlob`) as rows. Every
 * method fails with `AppError('storage_full')` if the disk is full.
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
  /** The whole content. Throws if its file is missing or too short. */
  readSync(blob: StoredBlob): Uint8Array
  /** Reads lazily, so it suits contents of any size and ranges (`slice`). */
  file(blob: StoredBlob): Blob
  /** For contents in files of their own whose rows are deleted. Keeps those that an upload has pinned since. */
  removeFiles(sha256s: readonly string[]): Promise<void>
  /** For a pack without rows. */
  removePack(pack: string): Promise<void>
  /** Copies the live contents into a new, durable pack. The caller commits the rows, then removes the old pack. */
  rewritePack(pack: string, live: readonly StoredBlob[]): Promise<StoredBlob[]>
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

export async function openBlobStore(dataDir: string, newId: () => string): Promise<BlobStore> {
  const places = new BlobPlaces(dataDir, newId)
  await places.create()
  const descriptors = new PackDescriptors(places)
  const read = (blob: StoredBlob) => readBlob(places, descriptors, blob)
  return {
    replacements: 0,
    stage: (stateOf) => new Stage(places, stateOf),
    isPinned: (sha256) => places.isPinned(sha256),
    readSync: read,
    file(blob) {
      const whole = Bun.file(places.of(blob))
      return blob.pack === null ? whole : whole.slice(blob.offset, blob.offset + blob.sizeBytes)
    },
    async removeFiles(sha256s) {
      for (const sha256 of sha256s) await places.removeUnpinned(sha256)
    },
    async removePack(pack) {
      descriptors.close(pack)
      await places.removePack(pack)
    },
    rewritePack: (pack, live) => rewritePack(places, pack, live, read),
    sweep: (isKnown) => sweepBlobs(places, isKnown),
    spool: (body, maxBytes, what) => spool(places, limitBytes(body, maxBytes, what)),
    probe: () => probe(places),
    verify: (blob) => verify(places, blob),
    close: () => descriptors.closeAll(),
  }
}

const OPEN_PACKS = 64

/** Keeps the most recently read packs open, so that a read is one system call. */
class PackDescriptors {
  readonly #places: BlobPlaces
  readonly #open = new Map<string, number>()

  constructor(places: BlobPlaces) {
    this.#places = places
  }

  get(pack: string): number {
    const descriptor = this.#open.get(pack) ?? openSync(this.#places.pack(pack), 'r')
    this.#open.delete(pack)
    this.#open.set(pack, descriptor)
    const [oldest] = this.#open.keys()
    if (this.#open.size > OPEN_PACKS && oldest !== undefined) this.close(oldest)
    return descriptor
  }

  close(pack: string): void {
    const descriptor = this.#open.get(pack)
    if (descriptor !== undefined) closeSync(descriptor)
    this.#open.delete(pack)
  }

  closeAll(): void {
    for (const pack of [...this.#open.keys()]) this.close(pack)
  }
}

function readBlob(places: BlobPlaces, descriptors: PackDescriptors, blob: StoredBlob): Uint8Array {
  if (blob.pack !== null) return readExactly(descriptors.get(blob.pack), blob)
  const descriptor = openSync(places.of(blob), 'r')
  try {
    return readExactly(descriptor, blob)
  } finally {
    closeSync(descriptor)
  }
}

function readExactly(descriptor: number, blob: StoredBlob): Uint8Array {
  const bytes = new Uint8Array(blob.sizeBytes)
  for (let done = 0; done < bytes.length; ) {
    const count = readSync(descriptor, bytes, done, bytes.length - done, blob.offset + done)
    if (count === 0)
      throw new Error(`Stored content ${blob.sha256} ends after ${done} of ${bytes.length} bytes`)
    done += count
  }
  return bytes
}

async function rewritePack(
  places: BlobPlaces,
  oldPack: string,
  live: readonly StoredBlob[],
  read: (blob: StoredBlob) => Uint8Array,
): Promise<StoredBlob[]> {
  const pack = places.newPackId()
  return withTmp(places, async (file) => {
    const moved: StoredBlob[] = []
    for (const blob of live) {
      if (blob.pack !== oldPack)
        throw new Error(`Stored content ${blob.sha256} is not in the pack ${oldPack}`)
      const bytes = read(blob)
      if (Bun.SHA256.hash(bytes, 'hex') !== blob.sha256)
        throw new Error(`Stored content ${blob.sha256} is damaged`)
      moved.push({ ...blob, pack, offset: file.sizeBytes })
      await file.append(bytes)
    }
    await file.finish({ durable: true })
    await rename(file.path, places.pack(pack))
    places.forgetTmp(file.path)
    await syncFolder(places.packs)
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
    for await (const chunk of stored.stream()) {
      sizeBytes += chunk.length
      hash.update(chunk)
    }
  } catch {
    return false
  }
  return sizeBytes === blob.sizeBytes && hash.digest('hex') === blob.sha256
}
