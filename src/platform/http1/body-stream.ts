/** How much may wait for the reader before the socket is paused. One packet (at most 512 KiB) may exceed it. */
const MAX_WAITING_BYTES = 128 * 1024
/** The approximate cost of a piece besides its bytes: a backend may send one byte in each. */
const PIECE_COST_BYTES = 512
/** A packet with more pieces than this is passed on as one. */
const MAX_PIECES = 16

export interface StreamOwner {
  /** The reader is behind: stop reading from the socket. */
  pause(): void
  resume(): void
  /** The reader has cancelled. */
  onCancelled(): void
}

/** The response body of a connection as a stream. Pauses the socket while the reader is behind. */
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
          owner.onCancelled()
        },
      },
      {
        highWaterMark: MAX_WAITING_BYTES,
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

  /** The pieces of one packet. */
  pushAll(pieces: readonly Uint8Array[]): void {
    if (pieces.length > MAX_PIECES) this.push(Buffer.concat(pieces))
    else pieces.forEach(this.push)
  }

  /** The body is complete. The rest no longer needs the socket, and the next response must not find it paused. */
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
