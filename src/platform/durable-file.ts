import { close, closeSync, fdatasync, fsync, open, openSync, write } from 'node:fs'
import { rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { AppError } from '../domain/errors.ts'
import { handOverOpen } from './owner.ts'

const BUFFER_BYTES = 256 * 1024
const EARLY_SYNC_BYTES = 8 * 1024 * 1024

const writeAt = promisify(write)
const syncData = promisify(fdatasync)
const syncAll = promisify(fsync)
const openFile = promisify(open)
const closeFile = promisify(close)

/** Turns a full disk into `storage_full`; returns any other error unchanged. */
export function toStorageError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  const message = 'The server has no space left for this; free some space in its data directory and try again'
  return new AppError('storage_full', message, { cause: error })
}

/** Makes changes to names in a folder (new, renamed) survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await openFile(path, 'r')
  try {
    await syncAll(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * A new file written from start to end. Bytes are copied into a buffer of 256 KiB and written in the background, at
 * most two buffers at a time, so that thousands of small appends do not each wait.
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

  /** `syncsEarly`: starts syncing while bytes arrive, so that `finish` has little to wait for. */
  constructor(path: string, { syncsEarly = false }: { syncsEarly?: boolean } = {}) {
    this.path = path
    this.#syncsEarly = syncsEarly
    this.#fd = openSync(path, 'w', 0o600)
    handOverOpen(this.#fd)
  }

  /** Bytes appended so far: the offset of the next ones. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Copies the bytes. If it returns a promise, await it before appending more. */
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

  /**
   * Writes the rest and closes the file. With `durable`, the bytes are on the disk when it resolves, but not
   * necessarily the name.
   */
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

  /** Closes and removes the file, finished or not. Resolves even if the file no longer exists. */
  async remove(): Promise<void> {
    if (this.#isOpen)
      this.#close(async () => {
        await this.#writing
        await this.#syncing
      })
    await this.#closing?.catch(() => undefined)
    await rm(this.path, { force: true })
  }

  /** Closes once, after `work`: a closed descriptor number may already belong to another file. */
  #close(work: () => Promise<void>): Promise<void> {
    this.#isOpen = false
    this.#closing = work().finally(() => {
      this.#forgetBuffers()
      return closeFile(this.#fd)
    })
    this.#closing.catch(() => undefined)
    return this.#closing
  }

  /** A stage may hold many finished files, so they must not keep buffers. */
  #forgetBuffers(): void {
    this.#buffer = Buffer.alloc(0)
    this.#spare = undefined
  }

  /** Starts writing the buffer and returns the previous write, which the caller waits for. */
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
    // The next wait or finish() reports its failure.
    this.#writing.catch(() => undefined)
    return before
  }

  /**
   * One sync at a time. Keeps a failure for `finish`, because the system reports it only once and the final sync would
   * succeed.
   */
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
