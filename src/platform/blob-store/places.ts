import { renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { syncFolder } from '../durable-file.ts'
import { makeFolder } from '../owner.ts'

/** The position of a content: in a pack at `offset`, or in a file of its own if `pack` is null. */
export type StoredBlob = {
  sha256: string
  sizeBytes: number
  pack: string | null
  offset: number
  /** Of a file of its own: the id of its object, where contents are in an object store. */
  object: string | null
}

/**
 * The names of all content files below the data directory, and the work in progress of this process: the contents that
 * uploads have pinned, and the names that a sweep must keep.
 */
export class BlobPlaces {
  readonly packs: string
  readonly files: string
  readonly tmp: string
  readonly #newId: () => string
  readonly #pins = new Map<string, number>()
  /** Temporary names in use, and packs that this process has created. */
  readonly #own = new Set<string>()

  constructor(dataDir: string, newId: () => string) {
    this.packs = join(dataDir, 'blobs', 'packs')
    this.files = join(dataDir, 'blobs', 'files')
    this.tmp = join(dataDir, 'tmp')
    this.#newId = newId
  }

  /** Creates missing folders, durably. */
  async create(): Promise<void> {
    for (const folder of [this.packs, this.files, this.tmp]) {
      const first = makeFolder(folder)
      if (first === undefined) continue
      await syncFolder(dirname(first))
      await syncFolder(dirname(folder))
    }
  }

  newPackId(): string {
    const id = this.#newId()
    this.#own.add(id)
    return id
  }

  /** Removes the file of the pack and forgets its name. */
  async removePack(id: string): Promise<void> {
    await rm(this.pack(id), { force: true })
    this.#own.delete(id)
  }

  pack(id: string): string {
    return join(this.packs, `${id}.pack`)
  }

  file(sha256: string): string {
    return join(this.files, sha256.slice(0, 2), sha256)
  }

  of(blob: StoredBlob): string {
    return blob.pack === null ? this.file(blob.sha256) : this.pack(blob.pack)
  }

  newObjectId(): string {
    return this.#newId()
  }

  /** A new name in `tmp/`; call `forget` when the file is gone. */
  newTmp(): string {
    const name = `blob-${this.#newId()}`
    this.#own.add(name)
    return join(this.tmp, name)
  }

  forgetTmp(path: string): void {
    this.#own.delete(path.slice(this.tmp.length + 1))
  }

  /** True for a temporary name in use and for a pack that this process created, whose rows may not be committed yet. */
  isOwn(name: string): boolean {
    return this.#own.has(name)
  }

  pin(sha256: string): void {
    this.#pins.set(sha256, (this.#pins.get(sha256) ?? 0) + 1)
  }

  unpin(sha256: string): void {
    const left = (this.#pins.get(sha256) ?? 0) - 1
    if (left > 0) this.#pins.set(sha256, left)
    else this.#pins.delete(sha256)
  }

  isPinned(sha256: string): boolean {
    return this.#pins.has(sha256)
  }

  /**
   * Removes the file of a large content unless an upload pins it. Such an upload may have renamed an equal file over
   * it, or be about to. The check and the rename happen in one turn, so that no rename of an upload comes between them.
   */
  async removeUnpinned(sha256: string): Promise<boolean> {
    if (this.isPinned(sha256)) return false
    const aside = this.newTmp()
    try {
      renameSync(this.file(sha256), aside)
    } catch (error) {
      this.forgetTmp(aside)
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
      throw error
    }
    await this.removeTmp(aside)
    return true
  }

  async removeTmp(path: string): Promise<void> {
    await rm(path, { force: true })
    this.forgetTmp(path)
  }
}
