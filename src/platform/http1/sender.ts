import { OutboundError } from '../outbound/error.ts'
import type { WireRequest } from './request.ts'
import type { SocketWriter } from './writer.ts'

/** Up to this size, head and body go out in one piece. */
const ONE_PIECE_BYTES = 64 * 1024
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const CRLF = Buffer.from('\r\n')

/** Sends one request with a body, no faster than the backend accepts it. RFC 9112 §6, §7.1. */
export class RequestSender {
  isSent = false
  /** The caller has not yet supplied the bytes that the backend waits for. */
  isWaitingForBody = false
  readonly #request: WireRequest
  readonly #writer: SocketWriter
  /** The body failed or had the wrong length: the request cannot be completed. */
  readonly #onFailed: (error: OutboundError) => void
  #bodyReader: ReadableStreamDefaultReader<Uint8Array> | null = null
  #isStopped = false

  constructor(request: WireRequest, writer: SocketWriter, onFailed: (error: OutboundError) => void) {
    this.#request = request
    this.#writer = writer
    this.#onFailed = onFailed
  }

  start(): void {
    const { head, body } = this.#request
    if (body instanceof ReadableStream) return void this.#sendStream(body)
    const isOnePiece = body === null || body.length <= ONE_PIECE_BYTES
    const bytes = Buffer.from(head, 'latin1')
    const taken = this.#writer.write(body !== null && isOnePiece ? Buffer.concat([bytes, body]) : bytes)
    if (taken === null && isOnePiece) this.isSent = true
    else void this.#sendRest(taken, isOnePiece ? null : body)
  }

  /** Stops sending and cancels a streamed body. */
  stop(reason: unknown): void {
    this.#isStopped = true
    this.#bodyReader?.cancel(reason).catch(() => {})
  }

  async #sendRest(taken: Promise<void> | null, body: Uint8Array | null): Promise<void> {
    try {
      await taken
      if (body !== null && !this.#isStopped) await this.#writer.write(body)
      this.#complete()
    } catch {
      // The connection failed and reports it itself.
    }
  }

  async #sendStream(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      this.#bodyReader = body.getReader()
      await this.#writer.writeText(this.#request.head)
      await this.#copy(this.#bodyReader)
      this.#complete()
    } catch (error) {
      if (!this.#isStopped) this.#onFailed(bodyFailed(error))
    }
  }

  async #copy(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const { contentLength } = this.#request
    let sent = 0
    while (!this.#isStopped) {
      this.isWaitingForBody = true
      const { done, value } = await reader.read()
      this.isWaitingForBody = false
      if (this.#isStopped) return
      if (done) break
      if (value.length === 0) continue
      sent += value.length
      if (contentLength !== null && sent > contentLength) throw new Error('longer than its Content-Length')
      await this.#writer.write(contentLength === null ? chunkOf(value) : value)
    }
    if (contentLength === null) await this.#writer.write(LAST_CHUNK)
    else if (sent < contentLength) throw new Error('shorter than its Content-Length')
  }

  #complete(): void {
    this.isSent = !this.#isStopped
  }
}

function chunkOf(content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, CRLF])
}

const bodyFailed = (error: unknown) =>
  error instanceof OutboundError
    ? error
    : new OutboundError('aborted', 'The request body failed or did not have its declared length', error)
