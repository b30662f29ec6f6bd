import type { LineSocket } from './outbound-dial.ts'

/** Bytes on their way out. One writer at a time; `progressed` is told of every byte that the system took. */
export class SocketWriter {
  readonly #socket: LineSocket
  readonly #progressed: () => void
  #rest: Uint8Array | null = null
  #failure: { error: unknown } | null = null
  #waiting: { resolve: () => void; reject: (error: unknown) => void } | null = null

  constructor(socket: LineSocket, progressed: () => void) {
    this.#socket = socket
    this.#progressed = progressed
  }

  /** Null when all of it was taken; else a promise for that, which is rejected when the connection fails. */
  write(bytes: Uint8Array): Promise<void> | null {
    if (this.#failure !== null) return Promise.reject(this.#failure.error)
    const taken = Math.max(0, this.#socket.write(bytes))
    if (taken > 0) this.#progressed()
    if (taken === bytes.length) return null
    this.#rest = bytes.subarray(taken)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  drain(): void {
    if (this.#rest === null) return
    const taken = Math.max(0, this.#socket.write(this.#rest))
    if (taken > 0) this.#progressed()
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
