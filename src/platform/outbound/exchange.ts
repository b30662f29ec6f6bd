import { isEventStream } from '../../domain/event-stream.ts'
import type { HeaderPair } from '../../domain/forward-headers.ts'
import type { Answer, Exchange, Http1Connection } from '../http1/connection.ts'
import type { WireRequest } from '../http1/request.ts'
import { atEndOfTurn } from '../http1/turn.ts'
import { OutboundError } from './error.ts'

export type IdleTimeout = number | ((status: number, headers: readonly HeaderPair[]) => number)

export type ExchangeOptions = {
  /** For messages, such as `api.example.com:443`. */
  label: string
  request: WireRequest
  upgrade: string | null
  headTimeoutMs: number
  /** Limits what comes before a connection, if that may take less long. */
  connectTimeoutMs?: number | undefined
  idleTimeoutMs: IdleTimeout
  signal: LazySignal
}

/** A function is only called for a request that lasts: most are answered before creating their signal is worthwhile. */
export type LazySignal = AbortSignal | (() => AbortSignal) | null

/** How long a response may take before its signal is created. */
const PROMPT_MS = 50

/** What the backend does when an exchange ends or must be retried. */
interface ExchangeOwner {
  retry(exchange: OutboundExchange): void
  /** Called at most once, when a long-lived response has begun. */
  onLasting(exchange: OutboundExchange): void
  /** Called once, when the exchange no longer uses any resources. */
  onLeft(exchange: OutboundExchange): void
}

/** One request from the caller's side: waits for its turn, for a connection and for the response. */
export class OutboundExchange implements Exchange {
  readonly request: WireRequest
  readonly upgrade: string | null
  readonly headTimeoutMs: number
  readonly answer: Promise<Answer>
  /** The connection that it was assigned. */
  connection: Http1Connection | null = null
  isOver = false
  readonly #options: ExchangeOptions
  readonly #owner: ExchangeOwner
  readonly startedAt = performance.now()
  #resolve: (answer: Answer) => void = () => {}
  #reject: (error: OutboundError) => void = () => {}
  #signal: AbortSignal | null = null
  #aborted: (() => void) | null = null
  #hasBeenRetried = false
  #waitsForTurn = false
  #gaveUp: AbortController | null = null
  #timer: Timer | null = null

  constructor(options: ExchangeOptions, owner: ExchangeOwner) {
    this.#options = options
    this.#owner = owner
    this.request = options.request
    this.upgrade = options.upgrade
    this.headTimeoutMs = options.headTimeoutMs
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    if (options.signal instanceof AbortSignal) this.#listen(options.signal)
  }

  /** Creates the signal of an exchange without a prompt response. True while that may still be needed later. */
  watchSignal(now: number): boolean {
    const { signal } = this.#options
    if (this.isOver || this.#signal !== null || typeof signal !== 'function') return false
    if (now - this.startedAt < PROMPT_MS) return true
    this.#listen(signal())
    return false
  }

  /** Starts the time limit for the phase before a connection. The returned signal fires when the exchange is over. */
  limitWait(isForTurn: boolean): AbortSignal {
    this.#waitsForTurn = isForTurn
    this.#gaveUp ??= new AbortController()
    const leftMs = this.#connectTimeoutMs - (performance.now() - this.startedAt)
    this.#timer ??= setTimeout(() => this.onFailed(this.#late(), false), Math.max(1, leftMs))
    this.watchSignal(Number.POSITIVE_INFINITY)
    return this.#gaveUp.signal
  }

  startOn(connection: Http1Connection): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.connection = connection
    connection.start(this)
  }

  idleTimeoutMs(status: number, headers: readonly HeaderPair[]): number {
    const { idleTimeoutMs } = this.#options
    return typeof idleTimeoutMs === 'number' ? idleTimeoutMs : idleTimeoutMs(status, headers)
  }

  /** Delivered after all responses of this turn have been read. */
  onAnswer(answer: Answer): void {
    // A WebSocket request has a turn of its own kind, which is limited separately.
    const isListening = this.upgrade === null && answer.body instanceof ReadableStream
    if (isListening && isEventStream(answer.headers)) this.#owner.onLasting(this)
    atEndOfTurn(() => this.#resolve(answer))
  }

  /**
   * A kept connection may end just as a request goes out on it: a repeatable request is retried once. RFC 9112 §9.3.1.
   */
  onFailed(error: OutboundError, isStale: boolean): void {
    if (this.isOver) return
    this.connection = null
    if (isStale && this.request.isRepeatable && !this.#hasBeenRetried) {
      this.#hasBeenRetried = true
      this.#owner.retry(this)
    } else {
      this.#dropBody(error)
      this.#reject(error)
      this.onFinished()
      this.#gaveUp?.abort(error)
    }
  }

  onFinished(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    if (this.#aborted !== null) this.#signal?.removeEventListener('abort', this.#aborted)
    this.#owner.onLeft(this)
  }

  get #connectTimeoutMs(): number {
    return this.#options.connectTimeoutMs ?? this.headTimeoutMs
  }

  #listen(signal: AbortSignal): void {
    this.#signal = signal
    this.#aborted = () => this.#abort()
    if (signal.aborted) this.#abort()
    else signal.addEventListener('abort', this.#aborted, { once: true })
  }

  #abort(): void {
    const error = new OutboundError('aborted', `The request to ${this.#options.label} was given up`)
    if (this.connection === null) this.onFailed(error, false)
    else this.connection.fail(error)
  }

  #late(): OutboundError {
    const { label } = this.#options
    if (this.#waitsForTurn)
      return new OutboundError(
        'timeout',
        `The request waited ${this.#connectTimeoutMs} ms for its turn: too many requests to ${label} are in progress`,
      )
    return new OutboundError('timeout', `${label} was not reached within ${this.#connectTimeoutMs} ms`)
  }

  /** Cancels a body that no connection has started to read. */
  #dropBody(reason: unknown): void {
    const { body } = this.request
    if (body instanceof ReadableStream && !body.locked) body.cancel(reason).catch(() => {})
  }
}
