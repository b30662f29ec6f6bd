import { BodyStream, type StreamOwner } from './body-stream.ts'
import type { SocketWriter } from './writer.ts'

/** The raw connection behind a 101: bytes both ways until one end closes. */
export type Tunnel = {
  readable: ReadableStream<Uint8Array>
  /** Resolves when the system took the bytes, in the order of the calls. Rejects when the connection is gone. */
  write(bytes: Uint8Array): Promise<void>
  close(): void
}

/** The connection's side of a tunnel. */
export class TunnelEnd {
  readonly stream: BodyStream
  readonly tunnel: Tunnel
  readonly #writer: SocketWriter
  #last: Promise<void> = Promise.resolve()

  constructor(writer: SocketWriter, owner: StreamOwner) {
    this.#writer = writer
    this.stream = new BodyStream(owner)
    this.tunnel = {
      readable: this.stream.readable,
      write: (bytes) => this.#write(bytes),
      close: () => owner.cancelled(),
    }
  }

  /** One after the other: the rest of one write must not come behind the start of the next. */
  #write(bytes: Uint8Array): Promise<void> {
    const before = this.#last
    const written = (async () => {
      await before
      await this.#writer.write(bytes)
    })()
    this.#last = written.catch(() => {})
    return written
  }
}
