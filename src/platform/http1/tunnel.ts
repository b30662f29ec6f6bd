import { BodyStream, type StreamOwner } from './body-stream.ts'
import type { SocketWriter } from './writer.ts'

/** The raw connection after a 101: bytes both ways until one end closes. */
export type Tunnel = {
  readable: ReadableStream<Uint8Array>
  /** Resolves when the system has accepted the bytes, in the order of the calls. Rejects if the connection is gone. */
  write(bytes: Uint8Array): Promise<void>
  close(): void
}

/** The connection's end of a tunnel. */
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
      close: () => owner.onCancelled(),
    }
  }

  /** One write at a time, so that the bytes of two writes never mix. */
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
