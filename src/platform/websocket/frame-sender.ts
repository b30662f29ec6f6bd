import { ByteCollector } from '../byte-stream.ts'
import type { Tunnel } from '../http1/tunnel.ts'

/**
 * Sends frames in order. Frames that come while a write is pending are combined: a flood of tiny ones needs only the
 * memory of its bytes, and few writes.
 */
export class FrameSender {
  readonly #tunnel: Tunnel
  readonly #onFailed: () => void
  #waiting = new ByteCollector()
  #unsentBytes = 0
  #sending: Promise<void> | null = null

  /** `onFailed` is called when the connection is gone. */
  constructor(tunnel: Tunnel, onFailed: () => void) {
    this.#tunnel = tunnel
    this.#onFailed = onFailed
  }

  /** The bytes that the other end has not accepted yet. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  send(frame: Uint8Array): void {
    this.#waiting.push(frame)
    this.#unsentBytes += frame.length
    this.#sending ??= this.#sendAll()
  }

  /** Resolves when everything was accepted, or the connection is gone. */
  async flushed(): Promise<void> {
    await this.#sending
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.sizeBytes > 0) {
        const bytes = this.#waiting.bytes()
        this.#waiting = new ByteCollector()
        await this.#tunnel.write(bytes)
        this.#unsentBytes -= bytes.length
      }
      this.#sending = null
    } catch {
      this.#onFailed()
    }
  }
}
