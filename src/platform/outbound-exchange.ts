import type { HeaderPair } from '../domain/forward-headers.ts'
import type { Answer, Exchange, Http1Connection } from './http1-connection.ts'
import type { WireRequest } from './http1-request.ts'
import { OutboundError } from './outbound-error.ts'

export type IdleTimeout = number | ((status: number, headers: readonly HeaderPair[]) => number)

export type ExchangeOptions = {
  /** For messages, such as `api.example.com:443`. */
  label: string
  request: WireRequest
  upgrade: string | null
  headTimeoutMs: number
  idleTimeoutMs: IdleTimeout
  signal: AbortSignal | null
}

/** What the backend does with an exchange that ends or has to be tried again. */
export interface ExchangeOwner {
  retry(exchange: OutboundExchange): void
  /** Called once, when the exchange takes up nothing any more. */
  left(exchange: OutboundExchange): void
}

/** One request from the caller's side: waits for its turn, for a connection and for the answer. */
export class OutboundExchange implements Exchange {
  readonly request: WireRequest
  readonly upgrade: string | null
  readonly headTimeoutMs: number
  readonly answer: Promise<Answer>
  /** The connection that it was given. */
  connection: Http1Connection | null = null
  isOver = false
  readonly #options: ExchangeOptions
  readonly #owner: ExchangeOwner
  readonly #startedAt = performance.now()
  #resolve: (answer: Answer) => void = () => {}
  #reject: (error: OutboundError) => void = () => {}
  #hasBeenRetried = false
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
    options.signal?.addEventListener('abort', this.#aborted, { once: true })
  }

  /** Starts the time limit for what comes before a connection. The signal fires when the exchange is over. */
  limitWait(): AbortSignal {
    this.#gaveUp ??= new AbortController()
    this.#timer ??= setTimeout(() => this.failed(this.#late(), false), Math.max(1, this.remainingMs()))
    return this.#gaveUp.signal
  }

  startOn(connection: Http1Connection): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.connection = connection
    connection.start(this)
  }

  remainingMs(): number {
    return this.headTimeoutMs - (performance.now() - this.#startedAt)
  }

  idleTimeoutMs(status: number, headers: readonly HeaderPair[]): number {
    const { idleTimeoutMs } = this.#options
    return typeof idleTimeoutMs === 'number' ? idleTimeoutMs : idleTimeoutMs(status, headers)
  }

  answered(answer: Answer): void {
    this.#resolve(answer)
  }

  /**
   * A kept connection may end just when a request goes out on it: what may be repeated is sent again, once.
   * RFC 9112 §9.3.1.
   */
  failed(error: OutboundError, isStale: boolean): void {
    if (this.isOver) return
    this.connection = null
    if (isStale && this.request.isRepeatable && !this.#hasBeenRetried) {
      this.#hasBeenRetried = true
      this.#owner.retry(this)
    } else {
      this.#dropBody(error)
      this.#reject(error)
      this.finished()
      this.#gaveUp?.abort(error)
    }
  }

  finished(): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#options.signal?.removeEventListener('abort', this.#aborted)
    this.#owner.left(this)
  }

  readonly #aborted = (): void => {
    const error = new OutboundError('aborted', `The request to ${this.#options.label} was given up`)
    if (this.connection === null) this.failed(error, false)
    else this.connection.fail(error)
  }

  #late(): OutboundError {
    const { label } = this.#options
    return new OutboundError('timeout', `${label} was not reached within ${this.headTimeoutMs} ms`)
  }

  /** A body that no connection has taken up is told that nobody wants it. */
  #dropBody(reason: unknown): void {
    const { body } = this.request
    if (body instanceof ReadableStream && !body.locked) body.cancel(reason).catch(() => {})
  }
}
