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

/** The head of an answer, and its body: whole where it came at once, else as it comes. */
export type Answer = {
  status: number
  /** Names in lower case. */
  headers: readonly HeaderPair[]
  /** The headers are the very object of an earlier answer. */
  isKnownHead: boolean
  body: ReceivedBody
  /** After 101 alone. */
  tunnel: Tunnel | null
}

/** One request and what becomes of it, as a connection sees it. */
export interface Exchange {
  readonly request: WireRequest
  /** The protocol to switch to; null where 101 would be a broken answer. */
  readonly upgrade: string | null
  /** The longest silence while a request body is on its way and before the head comes. */
  readonly headTimeoutMs: number
  /** From here on that counts for the head: the start of the request. */
  readonly startedAt: number
  /** The longest silence between the bytes of the answer. */
  idleTimeoutMs(status: number, headers: readonly HeaderPair[]): number
  answered(answer: Answer): void
  /** There will be no answer; `isStale` when a kept connection ended before the backend said anything. */
  failed(error: OutboundError, isStale: boolean): void
  /** The connection is done with an exchange that was answered. */
  finished(): void
  /** Time has passed: a signal that was not worth asking for may be. True while that may still come. */
  watchSignal(now: number): boolean
}

interface ConnectionOwner {
  /** For messages, such as `api.example.com:443`. */
  readonly label: string
  /** What backends said lately. */
  readonly knownHeads: KnownHeads
  /** May carry another request. */
  free(connection: Http1Connection): void
  gone(connection: Http1Connection): void
}

/** How long an unused connection is kept, unless the backend says less. */
const KEPT_IDLE_MS = 55_000
/** The longest that the reader of a body may leave the connection paused. */
const READER_TIMEOUT_MS = 300_000

type Phase = 'idle' | 'head' | 'body' | 'tunnel' | 'closed'

/** An HTTP/1.1 connection to a backend: one request at a time, the next when the answer is whole. RFC 9112 §9. */
export class Http1Connection implements SocketOwner, ReceiverOwner, Idler {
  /** Where it leads, as it was dialled. */
  readonly address: string
  idleSince = performance.now()
  idlePlace: IdlePlace | null = null
  readonly #socket: LineSocket
  readonly #owner: ConnectionOwner
  readonly #deadline = new Deadline(() => this.#timedOut())
  readonly #writer: SocketWriter
  readonly #receiver: ResponseReceiver
  #phase: Phase = 'idle'
  #exchange: Exchange | null = null
  /** Of a request with a body. */
  #sender: RequestSender | null = null
  /** Of one without. */
  readonly #headSender: HeadSender
  #tunnelEnd: TunnelEnd | null = null
  #idleTimeoutMs = 0
  #hasServed = false

  constructor(socket: LineSocket, address: string, owner: ConnectionOwner) {
    this.#socket = socket
    this.address = address
    this.#owner = owner
    this.#writer = new SocketWriter(socket, () => this.#progressed())
    this.#headSender = new HeadSender(this.#writer)
    this.#receiver = new ResponseReceiver(owner.knownHeads, this)
    this.#deadline.set(KEPT_IDLE_MS)
    socket.data.owner = this
  }

  get isOpen(): boolean {
    return this.#phase !== 'closed'
  }

  /** The request that is under way on it. */
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

  /** Ends the connection, and with it what is under way on it. */
  fail(error: OutboundError): void {
    this.#close(error, false)
  }

  received(bytes: Buffer): void {
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

  writable(): void {
    this.#writer.drain()
  }

  ended(): void {
    if (this.#phase === 'tunnel') this.#closeTunnel()
    else if (this.#phase !== 'body' || !this.#receiver.end()) this.closed(null)
  }

  closed(cause: Error | null): void {
    if (this.#phase === 'closed') return
    const isStale = this.#hasServed && this.#receiver.hasHeardNothing
    const when = this.#receiver.head === null ? 'before it answered' : 'in the midst of its answer'
    this.#close(this.#error('reset', `closed the connection ${when}`, cause), isStale)
  }

  answered({ head, isKnown }: ReadHead, body: ReceivedBody): void {
    const exchange = this.#exchange
    if (exchange === null) return
    const { status, headers } = head
    this.#phase = 'body'
    if (body instanceof ReadableStream) {
      this.#idleTimeoutMs = exchange.idleTimeoutMs(status, headers)
      this.#deadline.set(this.#idleTimeoutMs)
    }
    exchange.answered({ status, headers, isKnownHead: isKnown, body, tunnel: null })
  }

  switched({ head, isKnown }: ReadHead, rest: Buffer): void {
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
    exchange.answered({
      status: head.status,
      headers: head.headers,
      isKnownHead: isKnown,
      body: null,
      tunnel: this.#tunnelEnd.tunnel,
    })
    if (rest.length > 0) this.#tunnelEnd.stream.push(rest)
  }

  done(isClean: boolean): void {
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

  cancelled(): void {
    this.fail(this.#error('aborted', 'was left in the midst of its answer'))
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
    this.#owner.free(this)
    exchange?.finished()
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

  /** The system took bytes of ours: that breaks the silence, where a body is on its way. */
  #progressed(): void {
    if (this.#phase === 'head' && this.#exchange !== null && this.#exchange.request.body !== null)
      this.#deadline.set(this.#exchange.headTimeoutMs)
    else if ((this.#phase === 'body' && !this.#isPaused()) || this.#phase === 'tunnel')
      this.#deadline.set(this.#idleTimeoutMs)
  }

  #isPaused(): boolean {
    return (this.#tunnelEnd?.stream ?? this.#receiver.stream)?.isPaused === true
  }

  #timedOut(): void {
    if (this.#phase === 'idle') this.fail(this.#error('aborted', 'was not needed'))
    else if (this.#phase === 'head') this.fail(this.#late())
    else if (this.#isPaused()) this.fail(this.#error('aborted', 'sent an answer that nobody reads'))
    else
      this.fail(this.#error('stalled', `was silent for ${this.#idleTimeoutMs} ms in the midst of its answer`))
  }

  #late(): OutboundError {
    const { headTimeoutMs = 0 } = this.#exchange ?? {}
    return this.#sender?.isWaitingForBody
      ? new OutboundError('timeout', `The body of the request stopped coming for ${headTimeoutMs} ms`)
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
    this.#owner.gone(this)
    this.#receiver.fail(error)
    this.#tunnelEnd?.stream.fail(error)
    if (phase === 'head') exchange?.failed(error, isStale)
    else exchange?.finished()
  }

  #error(kind: OutboundErrorKind, what: string, cause?: unknown): OutboundError {
    return new OutboundError(kind, `${this.#owner.label} ${what}`, cause)
  }
}
