import type { LineSocket } from '../outbound/dial.ts'

/** A shared buffer for encoding heads: its content is not needed once the system has accepted it. */
const scratch = Buffer.alloc(16 * 1024)

/** Writes bytes to a socket. One write at a time. `onProgress` is called whenever the system accepts bytes. */
export class SocketWriter {
  readonly #socket: LineSocket
  readonly #onProgress: () => void
  #rest: Uint8Array | null = null
  #failure: { error: unknown } | null = null
  #waiting: { resolve: () => void; reject: (error: unknown) => void } | null = null

  constructor(socket: LineSocket, onProgress: () => void) {
    this.#socket = socket
    this.#onProgress = onProgress
  }

  /** Null if everything was accepted; otherwise a promise for that, which rejects if the connection fails. */
  write(bytes: Uint8Array): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure.error)
    const taken = this.#send(bytes, bytes.length)
    return taken === bytes.length ? null : this.#keep(bytes.subarray(taken))
  }

  /** The same for a text whose characters are bytes. */
  writeText(text: string): Promise<void> | null {
    const { length } = text
    if (length > scratch.length || this.#failure !== null) return this.write(Buffer.from(text, 'latin1'))
    scratch.write(text, 'latin1')
    const taken = this.#send(scratch, length)
    return taken === length ? null : this.#keep(Buffer.from(scratch.subarray(taken, length)))
  }

  /** How many of the first `length` bytes the system accepted. */
  #send(bytes: Uint8Array, length: number): number {
    const taken = Math.max(0, this.#socket.write(bytes, 0, length))
    if (taken > 0) this.#onProgress()
    return taken
  }

  #keep(rest: Uint8Array): Promise<void> {
    this.#rest = rest
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  drain(): void {
    if (this.#rest === null) return
    const taken = this.#send(this.#rest, this.#rest.length)
    this.#rest = taken === this.#rest.length ? null : this.#rest.subarray(taken)
    if (this.#rest === null) this.#settle()?.resolve()
  }

  fail(error: unknown): void {
    this.#rest = null
    this.#failure ??= { error }
    this.#settle()?.reject(error)
  }

  #settle() {
    const waiting = this.#waiting
    this.#waiting = null
    return waiting
  }
}
