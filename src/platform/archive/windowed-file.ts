import { type FileHandle, open } from 'node:fs/promises'
import { AppError } from '../../domain/errors.ts'

const WINDOW_BYTES = 1024 * 1024

/** Random access to a file that is read mostly forwards: waits once per MiB, not for each read. */
export class WindowedFile {
  readonly sizeBytes: number
  readonly #handle: FileHandle
  #window = new Uint8Array()
  #windowAt = 0
  #isOpen = true

  private constructor(handle: FileHandle, sizeBytes: number) {
    this.#handle = handle
    this.sizeBytes = sizeBytes
  }

  static async open(path: string): Promise<WindowedFile> {
    const handle = await open(path, 'r')
    try {
      return new WindowedFile(handle, (await handle.stat()).size)
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Reads exactly these bytes, which are never overwritten. Fails with `invalid` if the file ends before them. */
  async read(at: number, length: number): Promise<Uint8Array> {
    if (!this.#isOpen) throw new Error('The file is closed')
    if (at + length > this.sizeBytes) throw cutOff()
    const start = at - this.#windowAt
    if (start < 0 || start + length > this.#window.length) return this.#readWindow(at, length)
    return this.#window.subarray(start, start + length)
  }

  async close(): Promise<void> {
    if (this.#isOpen) await this.#handle.close()
    this.#isOpen = false
  }

  async #readWindow(at: number, length: number): Promise<Uint8Array> {
    // A new array each time, because earlier results may still be in use.
    const window = new Uint8Array(Math.min(Math.max(length, WINDOW_BYTES), this.sizeBytes - at))
    for (let filled = 0; filled < window.length; ) {
      const { bytesRead } = await this.#handle.read(window, filled, window.length - filled, at + filled)
      if (bytesRead === 0) throw cutOff()
      filled += bytesRead
    }
    this.#window = window
    this.#windowAt = at
    return window.subarray(0, length)
  }
}

function cutOff(): AppError {
  return new AppError('invalid', 'The archive ends too soon: a part of it is missing')
}
