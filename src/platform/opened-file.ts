import { close, open, read } from 'node:fs'
import { stat } from 'node:fs/promises'
import { promisify } from 'node:util'

const PIECE_BYTES = 256 * 1024

const openFile = promisify(open)
const readAt = promisify(read)

/** Also where an answer is dropped before anybody reads or cancels it. */
const forgotten = new FinalizationRegistry<Descriptor>((descriptor) => descriptor.close())

class Descriptor {
  readonly fd: number
  #isOpen = true

  constructor(fd: number) {
    this.fd = fd
  }

  close(): void {
    if (this.#isOpen) close(this.fd)
    this.#isOpen = false
  }
}

/**
 * A file to be read once, from start to end. It may be deleted as soon as it is open: its room is free when it is closed, which
 * happens at the end, when the reader returns, or when nobody refers to it any more.
 */
export class OpenedFile {
  readonly sizeBytes: number
  readonly #descriptor: Descriptor

  private constructor(fd: number, sizeBytes: number) {
    this.#descriptor = new Descriptor(fd)
    this.sizeBytes = sizeBytes
    forgotten.register(this, this.#descriptor)
  }

  static async open(path: string): Promise<OpenedFile> {
    const { size } = await stat(path)
    return new OpenedFile(await openFile(path, 'r'), size)
  }

  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const { bytesRead, buffer } = await readAt(
          this.#descriptor.fd,
          Buffer.alloc(PIECE_BYTES),
          0,
          PIECE_BYTES,
          null,
        )
        if (bytesRead === 0) return
        yield buffer.subarray(0, bytesRead)
      }
    } finally {
      this.close()
    }
  }

  close(): void {
    this.#descriptor.close()
  }
}
