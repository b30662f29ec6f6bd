import { ByteCollector } from '../byte-stream.ts'
import type { Tunnel } from '../http1/tunnel.ts'

/**
 * Sends frames in order. Those that come while the system takes others wait as one piece: a flood of tiny ones takes no more
 * memory than its bytes, and few writes.
 */
export class FrameSender {
  readonly #tunnel: Tunnel
  readonly #failed: () => void
  #waiting = new ByteCollector()
  #unsentBytes = 0
  #sending: Promise<void> | null = null

  /** `failed`: the connection is gone. */
  constructor(tunnel: Tunnel, failed: () => void) {
    this.#tunnel = tunnel
    this.#failed = failed
  }

  /** What the other end has not taken yet. */
  get unsentBytes(): number {
    return this.#unsentBytes
  }

  send(frame: Uint8Array): void {
    this.#waiting.push(frame)
    this.#unsentBytes += frame.length
    this.#sending ??= this.#sendAll()
  }

  /** Resolves when everything was taken, or the connection is gone. */
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
      this.#failed()
    }
  }
}
