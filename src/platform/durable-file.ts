import { close, closeSync, fdatasync, fsync, open, openSync, write } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { AppError } from '../domain/errors.ts'

const BUFFER_BYTES = 256 * 1024
const EARLY_SYNC_BYTES = 8 * 1024 * 1024

const writeAt = promisify(write)
const syncData = promisify(fdatasync)
const syncAll = promisify(fsync)
const openFile = promisify(open)
const closeFile = promisify(close)

/** A full disk becomes `storage_full`; anything else stays what it is. */
export function toStorageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  const message = 'The server has no space left for this; free some on its data directory and try again'
  return new AppError('storage_full', message, { cause: error })
}

/** Makes names in a folder (made, renamed) outlive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r')
  try {
    await syncAll(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * A new file written from front to back. Bytes are copied into a buffer of 256 KiB and written behind the caller's
 * back, at most two buffers at a time, so that thousands of small appends cost no wait each.
 */
export class DurableFile {
  readonly path: string
  readonly #fd: number
  #isOpen = true
  #sizeBytes = 0
  #buffer: Buffer = Buffer.allocUnsafe(BUFFER_BYTES)
  #used = 0
  #spare: Buffer | undefined
  #writing: Promise<void> = Promise.resolve()
  readonly #syncsEarly: boolean
  #unsyncedBytes = 0
  #syncing: Promise<void> | undefined
  #syncFailure: unknown
  #closing: Promise<void> | undefined

  /** `syncsEarly`: the disk gets to work while bytes come in, so that `finish` has little to wait for. */
  constructor(path: string, { syncsEarly = false }: { syncsEarly?: boolean } = {}) {
    this.path = path
    this.#syncsEarly = syncsEarly
    this.#fd = openSync(path, 'w', 0o600)
  }

  /** Bytes appended so far: where the next ones will lie. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Takes a copy of the bytes. A promise, where given, is to be awaited before more is appended. */
  append(bytes: Uint8Array): Promise<void> | undefined {
    if (!this.#isOpen) throw new Error(`${this.path} is closed`)
    let wait: Promise<void> | undefined
    for (let taken = 0; taken < bytes.length; ) {
      const part = bytes.subarray(taken, taken + BUFFER_BYTES - this.#used)
      this.#buffer.set(part, this.#used)
      this.#used += part.length
      this.#sizeBytes += part.length
      taken += part.length
      if (this.#used === BUFFER_BYTES) wait = this.#flush()
    }
    return wait
  }

  /** Writes the rest and closes; with `durable` the bytes (not yet the name) are on the disk when it resolves. */
  finish({ durable }: { durable: boolean }): Promise<void> {
    if (!this.#isOpen) throw new Error(`${this.path} is closed`)
    this.#flush()
    return this.#close(async () => {
      await this.#writing
      await this.#syncing
      if (this.#syncFailure !== undefined) throw this.#syncFailure
      if (durable) await syncData(this.#fd)
    })
  }

  /** Closes and removes the file, finished or not. Resolves even if it is gone already. */
  async remove(): Promise<void> {
    if (this.#isOpen)
      this.#close(async () => {
        await this.#writing
        await this.#syncing
      })
    await this.#closing?.catch(() => undefined)
    await rm(this.path, { force: true })
  }

  /** Closes once, after `work`: a descriptor number must not be used when it may already be another file's. */
  #close(work: () => Promise<void>): Promise<void> {
    this.#isOpen = false
    this.#closing = work().finally(() => {
      this.#forgetBuffers()
      return closeFile(this.#fd)
    })
    this.#closing.catch(() => undefined)
    return this.#closing
  }

  /** A stage may hold many finished files, so they keep no memory. */
  #forgetBuffers(): void {
    this.#buffer = Buffer.alloc(0)
    this.#spare = undefined
  }

  /** Starts writing the buffer and returns the write before it, which the caller waits for. */
  #flush(): Promise<void> {
    const full = this.#buffer
    const used = this.#used
    const position = this.#sizeBytes - used
    const before = this.#writing
    this.#buffer = this.#spare ?? Buffer.allocUnsafe(BUFFER_BYTES)
    this.#spare = undefined
    this.#used = 0
    this.#writing = before
      .then(() => writeWhole(this.#fd, full.subarray(0, used), position))
      .then(() => {
        this.#spare = full
        this.#syncEarly(used)
      })
    // Its failure is reported by the next wait or by finish().
    this.#writing.catch(() => undefined)
    return before
  }

  /** One at a time. A failure is kept for `finish`: the system tells it once, and the sync at the end would succeed. */
  #syncEarly(bytes: number): void {
    this.#unsyncedBytes += bytes
    if (!this.#syncsEarly || this.#syncing !== undefined || this.#unsyncedBytes < EARLY_SYNC_BYTES) return
    this.#unsyncedBytes = 0
    this.#syncing = syncData(this.#fd)
      .catch((error) => {
        this.#syncFailure = error
      })
      .finally(() => {
        this.#syncing = undefined
      })
  }
}

async function writeWhole(fd: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await writeAt(fd, bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
