import type { HeaderPair } from '../../domain/forward-headers.ts'
import type { LineSocket, SocketOwner } from '../outbound/dial.ts'
import { OutboundError, type OutboundErrorKind } from '../outbound/error.ts'
import type { IdlePlace, Idler } from '../outbound/idle.ts'
import { Deadline } from './deadline.ts'
import { HeadSender } from './head-sender.ts'
import type { KnownHeads, ReadHead } from './known-heads.ts'
import { type ReceivedBody, type ReceiverOwner, ResponseReceiver } from './receiver.ts'
import type { WireRequest } from './request.ts'
import { Http1Error } from './response-head.ts'
import { RequestSender } from './sender.ts'
import { type Tunnel, TunnelEnd } from './tunnel.ts'
import { SocketWriter } from './writer.ts'

/** The head of a response and its body, which is bytes if it came at once, otherwise a stream. */
export type Answer = {
  status: number
  /** Header names in lower case. */
  headers: readonly HeaderPair[]
  /** `headers` is the same object as in an earlier response. */
  isKnownHead: boolean
  body: ReceivedBody
  /** Only after a 101. */
  tunnel: Tunnel | null
}

/** One request and its result, as a connection sees it. */
export interface Exchange {
  readonly request: WireRequest
  /** The protocol to switch to; if null, a 101 is an invalid response. */
  readonly upgrade: string | null
  /** The longest silence while a request body is being sent and before the head arrives. */
  readonly headTimeoutMs: number
  /** The start of the request; the time limit of the head counts from here. */
  readonly startedAt: number
  /** The longest silence within the response. */
  idleTimeoutMs(status: number, headers: readonly HeaderPair[]): number
  onAnswer(answer: Answer): void
  /** No response will come. `isStale` if a kept connection ended before the backend sent anything. */
  onFailed(error: OutboundError, isStale: boolean): void
  /** The connection has finished an exchange that got a response. */
  onFinished(): void
  /** Time has passed: creates the signal of a request that lasts. Returns whether that may still be needed later. */
  watchSignal(now: number): boolean
}

interface ConnectionOwner {
  /** For messages, such as `api.example.com:443`. */
  readonly label: string
  /** Recent response heads of backends. */
  readonly knownHeads: KnownHeads
  /** The connection can take another request. */
  onFree(connection: Http1Connection): void
  onGone(connection: Http1Connection): void
}

/** How long an unused connection is kept, unless the backend asks for less. */
const KEPT_IDLE_MS = 55_000
/** The longest time that the reader of a body may keep the connection paused. */
const READER_TIMEOUT_MS = 300_000

type Phase = 'idle' | 'head' | 'body' | 'tunnel' | 'closed'

/** An HTTP/1.1 connection to a backend: one request at a time, the next after the response is complete. RFC 9112 §9. */
export class Http1Connection implements SocketOwner, ReceiverOwner, Idler {
  /** The address that was dialled. */
  readonly address: string
  idleSince = performance.now()
  idlePlace: IdlePlace | null = null
  readonly #socket: LineSocket
  readonly #owner: ConnectionOwner
  readonly #deadline = new Deadline(() => this.#onTimeout())
  readonly #writer: SocketWriter
  readonly #receiver: ResponseReceiver
  #phase: Phase = 'idle'
  #exchange: Exchange | null = null
  /** Sends a request with a body. */
  #sender: RequestSender | null = null
  /** Sends a request without a body. */
  readonly #headSender: HeadSender
  #tunnelEnd: TunnelEnd | null = null
  #idleTimeoutMs = 0
  #hasServed = false

  constructor(socket: LineSocket, address: string, owner: ConnectionOwner) {
    this.#socket = socket
    this.address = address
    this.#owner = owner
    this.#writer = new SocketWriter(socket, () => this.#onProgress())
    this.#headSender = new HeadSender(this.#writer)
    this.#receiver = new ResponseReceiver(owner.knownHeads, this)
    this.#deadline.set(KEPT_IDLE_MS)
    socket.data.owner = this
  }

  get isOpen(): boolean {
    return this.#phase !== 'closed'
  }

  /** The current exchange. */
  get exchange(): Exchange | null {
    return this.#exchange
  }

  /** Sends a request. The connection must be idle. */
  start(exchange: Exchange): void {
    const { request } = exchange
    this.#phase = 'head'
    this.#exchange = exchange
    this.#receiver.expect(request.method)
    this.#deadline.set(exchange.headTimeoutMs, exchange.startedAt)
    if (request.body === null) this.#headSender.start(request.head)
    else {
      this.#sender = new RequestSender(request, this.#writer, (error) => this.fail(error))
      this.#sender.start()
    }
  }

  /** Closes the connection and fails its current exchange. */
  fail(error: OutboundError): void {
    this.#close(error, false)
  }

  onBytes(bytes: Buffer): void {
    try {
      if (this.#phase === 'head' && !this.#headSender.isWaiting) this.#receiver.receive(bytes)
      else if (this.#phase === 'body') this.#bodyReceived(bytes)
      else if (this.#phase === 'tunnel') this.#tunnelReceived(bytes)
      else
        this.#close(this.#error('broken', 'sent something without being asked'), this.#headSender.isWaiting)
    } catch (error) {
      if (!(error instanceof Http1Error)) throw error
      this.fail(this.#error('broken', `sent ${error.message}`))
    }
  }

  onWritable(): void {
    this.#writer.drain()
  }

  onEnd(): void {
    if (this.#phase === 'tunnel') this.#closeTunnel()
    else if (this.#phase !== 'body' || !this.#receiver.end()) this.onClosed(null)
  }

  onClosed(cause: Error | null): void {
    if (this.#phase === 'closed') return
    const isStale = this.#hasServed && this.#receiver.hasReceivedNothing
    const when = this.#receiver.head === null ? 'before it answered' : 'in the middle of its answer'
    this.#close(this.#error('reset', `closed the connection ${when}`, cause), isStale)
  }

  onAnswer({ head, isKnown }: ReadHead, body: ReceivedBody): void {
    const exchange = this.#exchange
    if (exchange === null) return
    const { status, headers } = head
    this.#phase = 'body'
    if (body instanceof ReadableStream) {
      this.#idleTimeoutMs = exchange.idleTimeoutMs(status, headers)
      this.#deadline.set(this.#idleTimeoutMs)
    }
    exchange.onAnswer({ status, headers, isKnownHead: isKnown, body, tunnel: null })
  }

  onSwitched({ head, isKnown }: ReadHead, rest: Buffer): void {
    const exchange = this.#exchange
    const offered = head.headers
      .filter(([name]) => name === 'upgrade')
      .map(([, value]) => value.toLowerCase())
    if (exchange === null || exchange.upgrade === null || !offered.includes(exchange.upgrade))
      throw new Http1Error('101 without being asked')
    this.#phase = 'tunnel'
    this.#idleTimeoutMs = exchange.idleTimeoutMs(head.status, head.headers)
    this.#deadline.set(this.#idleTimeoutMs)
    this.#tunnelEnd = new TunnelEnd(this.#writer, this)
    exchange.onAnswer({
      status: head.status,
      headers: head.headers,
      isKnownHead: isKnown,
      body: null,
      tunnel: this.#tunnelEnd.tunnel,
    })
    if (rest.length > 0) this.#tunnelEnd.stream.push(rest)
  }

  onDone(isClean: boolean): void {
    if (!this.isOpen) return
    const isSent = this.#sender?.isSent ?? this.#headSender.isSent
    if (isClean && isSent && this.#receiver.head?.isPersistent === true) this.#becomeFree()
    else this.fail(this.#error('aborted', 'has answered'))
  }

  pause(): void {
    this.#socket.pause()
    this.#deadline.set(READER_TIMEOUT_MS)
  }

  resume(): void {
    if (!this.isOpen) return
    this.#deadline.set(this.#idleTimeoutMs)
    this.#socket.resume()
  }

  onCancelled(): void {
    this.fail(this.#error('aborted', 'was left in the middle of its answer'))
  }

  #becomeFree(): void {
    const exchange = this.#exchange
    const seconds = this.#receiver.head?.keepAliveSeconds ?? null
    this.#phase = 'idle'
    this.#exchange = null
    this.#sender = null
    this.#hasServed = true
    this.idleSince = performance.now()
    this.#deadline.set(
      seconds === null ? KEPT_IDLE_MS : Math.min(KEPT_IDLE_MS, Math.max(0, seconds * 1000 - 1000)),
      this.idleSince,
    )
    this.#owner.onFree(this)
    exchange?.onFinished()
  }

  #bodyReceived(bytes: Buffer): void {
    this.#deadline.set(this.#idleTimeoutMs)
    this.#receiver.receive(bytes)
  }

  #tunnelReceived(bytes: Buffer): void {
    this.#deadline.set(this.#idleTimeoutMs)
    this.#tunnelEnd?.stream.push(bytes)
  }

  #closeTunnel(): void {
    this.#tunnelEnd?.stream.finish()
    this.fail(this.#error('reset', 'closed the connection'))
  }

  /** The system accepted bytes of the request: if they belong to a body, the silence is over. */
  #onProgress(): void {
    if (this.#phase === 'head' && this.#exchange !== null && this.#exchange.request.body !== null)
      this.#deadline.set(this.#exchange.headTimeoutMs)
    else if ((this.#phase === 'body' && !this.#isPaused()) || this.#phase === 'tunnel')
      this.#deadline.set(this.#idleTimeoutMs)
  }

  #isPaused(): boolean {
    return (this.#tunnelEnd?.stream ?? this.#receiver.stream)?.isPaused === true
  }

  #onTimeout(): void {
    if (this.#phase === 'idle') this.fail(this.#error('aborted', 'was not needed'))
    else if (this.#phase === 'head') this.fail(this.#late())
    else if (this.#isPaused()) this.fail(this.#error('aborted', 'sent an answer that nobody reads'))
    else
      this.fail(
        this.#error('stalled', `was silent for ${this.#idleTimeoutMs} ms in the middle of its answer`),
      )
  }

  #late(): OutboundError {
    const { headTimeoutMs = 0 } = this.#exchange ?? {}
    return this.#sender?.isWaitingForBody
      ? new OutboundError('timeout', `The request body stalled for ${headTimeoutMs} ms`)
      : this.#error('timeout', `did not answer within ${headTimeoutMs} ms`)
  }

  #close(error: OutboundError, isStale: boolean): void {
    if (this.#phase === 'closed') return
    const phase = this.#phase
    const exchange = this.#exchange
    this.#phase = 'closed'
    this.#exchange = null
    this.#headSender.stop()
    this.#deadline.stop()
    this.#socket.terminate()
    this.#sender?.stop(error)
    this.#writer.fail(error)
    this.#owner.onGone(this)
    this.#receiver.fail(error)
    this.#tunnelEnd?.stream.fail(error)
    if (phase === 'head') exchange?.onFailed(error, isStale)
    else exchange?.onFinished()
  }

  #error(kind: OutboundErrorKind, what: string, cause?: unknown): OutboundError {
    return new OutboundError(kind, `${this.#owner.label} ${what}`, cause)
  }
}
