import { rmSync } from 'node:fs'
import { readdir, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Where copies of what the store has are, below the data directory: what this machine stored itself, and fetched blocks. */
const FOLDERS = ['blobs/packs', 'blobs/files', 'cache']

type Options = {
  dataDir: string
  limitBytes: number
  /** How much more the disk may take. */
  roomBytes: () => number
  /** Called before a file is removed. */
  onRemove: (path: string) => void
}

/**
 * The sizes of all copies, by path below the data directory, the least recently used first, so that the oldest make room for
 * new ones. A file may disappear at any time: what is there is decided by the disk, never by this list.
 */
export class CachedFiles {
  readonly limitBytes: number
  readonly #dataDir: string
  readonly #roomBytes: () => number
  readonly #onRemove: (path: string) => void
  readonly #sizes = new Map<string, number>()
  #bytes = 0
  /** Of files that are being written. */
  #promised = 0
  readonly #listed: Promise<void>

  constructor({ dataDir, limitBytes, roomBytes, onRemove }: Options) {
    this.#dataDir = dataDir
    this.limitBytes = limitBytes
    this.#roomBytes = roomBytes
    this.#onRemove = onRemove
    this.#listed = this.#listFiles()
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Resolves when all files of before are counted, and the limit holds. */
  async listed(): Promise<void> {
    await this.#listed
  }

  touch(path: string): void {
    const size = this.#sizes.get(path)
    if (size === undefined) return
    this.#sizes.delete(path)
    this.#sizes.set(path, size)
  }

  /**
   * Writes a file for which there is room then. False, and nothing is written, if there can be none. `write` makes the file
   * under its own name in one step.
   */
  async add(path: string, bytes: number, write: () => Promise<void>): Promise<boolean> {
    await this.#listed
    if (!this.#makeRoom(bytes)) return false
    this.#promised += bytes
    try {
      await write()
    } finally {
      this.#promised -= bytes
    }
    this.#count(path, bytes)
    return true
  }

  /** Counts a file that is there already. */
  async admit(path: string, bytes: number): Promise<void> {
    await this.#listed
    this.#count(path, bytes)
    this.#makeRoom(0)
  }

  /** Removes a file, listed or not. */
  remove(path: string): void {
    this.#forget(path)
    this.#onRemove(path)
    rmSync(join(this.#dataDir, path), { force: true })
  }

  #count(path: string, bytes: number): void {
    this.#forget(path)
    this.#sizes.set(path, bytes)
    this.#bytes += bytes
  }

  #forget(path: string): void {
    this.#bytes -= this.#sizes.get(path) ?? 0
    this.#sizes.delete(path)
  }

  /** In one turn, so that two cannot take the same room. */
  #makeRoom(bytes: number): boolean {
    const used = this.#bytes + this.#promised + bytes
    let over = Math.max(used - this.limitBytes, bytes - this.#roomBytes())
    for (const [path, size] of this.#sizes) {
      if (over <= 0) break
      this.remove(path)
      if (path.startsWith('cache/')) void rmdir(dirname(join(this.#dataDir, path))).catch(() => {})
      over -= size
    }
    return over <= 0
  }

  async #listFiles(): Promise<void> {
    const found: { path: string; bytes: number; usedAt: number }[] = []
    for (const folder of FOLDERS) await this.#look(folder, found)
    found.sort((a, b) => a.usedAt - b.usedAt)
    for (const { path, bytes } of found) this.#count(path, bytes)
    this.#makeRoom(0)
  }

  async #look(folder: string, found: { path: string; bytes: number; usedAt: number }[]): Promise<void> {
    const entries = await readdir(join(this.#dataDir, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) await this.#look(path, found)
      else {
        const about = await stat(join(this.#dataDir, path)).catch(() => null)
        if (about === null) continue
        found.push({ path, bytes: about.size, usedAt: Math.max(about.atimeMs, about.mtimeMs) })
      }
    }
  }
}
