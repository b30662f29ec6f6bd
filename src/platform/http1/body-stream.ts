/** How much may wait for the reader before the socket is paused; a packet (at most 512 KiB) may come on top. */
const MOST_WAITING_BYTES = 128 * 1024
/** What a piece takes besides its bytes, about: a backend may send a byte in each. */
const PIECE_COST_BYTES = 512
/** A packet that falls into more pieces than this is handed on in one. */
const MOST_PIECES = 16

export interface StreamOwner {
  /** The reader is behind: read no more from the socket. */
  pause(): void
  resume(): void
  /** The reader wants no more. */
  cancelled(): void
}

/** The reading end of a connection as a stream, with the socket paused while its reader is behind. */
export class BodyStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly #owner: StreamOwner
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #isPaused = false

  constructor(owner: StreamOwner) {
    this.#owner = owner
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.#wanted(),
        cancel: () => {
          this.#controller = null
          owner.cancelled()
        },
      },
      {
        highWaterMark: MOST_WAITING_BYTES,
        size: (content?: Uint8Array) => (content?.length ?? 0) + PIECE_COST_BYTES,
      },
    )
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  readonly push = (content: Uint8Array): void => {
    const controller = this.#controller
    if (controller === null) return
    controller.enqueue(content)
    if (this.#isPaused || (controller.desiredSize ?? 1) > 0) return
    this.#isPaused = true
    this.#owner.pause()
  }

  /** What one packet brought. */
  pushAll(pieces: readonly Uint8Array[]): void {
    if (pieces.length > MOST_PIECES) this.push(Buffer.concat(pieces))
    else pieces.forEach(this.push)
  }

  /** All of it has come. What waits for the reader needs the socket no more, and the next answer must not find it paused. */
  finish(): void {
    this.#controller?.close()
    this.#controller = null
    this.#wanted()
  }

  fail(error: unknown): void {
    this.#controller?.error(error)
    this.#controller = null
  }

  #wanted(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#owner.resume()
  }
}
