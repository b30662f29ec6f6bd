import { Http1Connection } from '../http1/connection.ts'
import type { KnownHeads } from '../http1/known-heads.ts'
import { type DialTarget, dial } from './dial.ts'
import { OutboundError } from './error.ts'
import { type ExchangeOptions, OutboundExchange } from './exchange.ts'
import type { IdleConnections } from './idle.ts'

export type BackendLimits = {
  /** Requests in progress, and those waiting for their turn. */
  maxInFlight: number
  maxWaiting: number
}

/** Event streams must not take the turns of other requests, so this many per turn have places of their own. */
const LASTING_PER_REQUEST = 16

/** Sockets: connections, attempts to connect, and abandoned attempts that the system still holds. */
const MAX_SOCKETS_PER_REQUEST = 2
/** A non-repeatable request never uses a connection that was idle for longer, because it may be closing right now. */
const FRESH_IDLE_MS = 2_000
/** How long one of several addresses may take to connect before the next is tried. */
const ADDRESS_TIMEOUT_MS = 3_000

type BackendOptions = {
  label: string
  limits: BackendLimits
  knownHeads: KnownHeads
  target: Omit<DialTarget, 'address'>
  /** The addresses that may be dialled now: synchronous if they are known. Throws `OutboundError`. */
  knownAddresses: () => readonly string[] | null
  addresses: () => Promise<readonly string[]>
  idle: IdleConnections
  /** Nothing is in progress or kept any more. */
  onEmpty: () => void
}

/**
 * One backend: its connections, and its own limit of requests in progress, so that a backend that hangs only delays its
 * own visitors.
 */
export class Backend {
  readonly label: string
  readonly knownHeads: KnownHeads
  readonly #options: BackendOptions
  readonly #idle: Http1Connection[] = []
  readonly #open = new Set<Http1Connection>()
  readonly #waiting = new Set<OutboundExchange>()
  readonly #connecting = new Set<OutboundExchange>()
  readonly #lasting = new Set<OutboundExchange>()
  #inFlight = 0
  #sockets = 0

  constructor(options: BackendOptions) {
    this.#options = options
    this.label = options.label
    this.knownHeads = options.knownHeads
  }

  /** Throws `OutboundError` `overloaded` if too many requests are waiting already. */
  request(options: ExchangeOptions): OutboundExchange {
    const { maxInFlight, maxWaiting } = this.#options.limits
    const mustWait = this.#inFlight >= maxInFlight
    if (mustWait && this.#waiting.size >= maxWaiting) throw overloaded(this.label)
    const exchange = new OutboundExchange(options, this)
    if (mustWait) {
      this.#waiting.add(exchange)
      exchange.limitWait(true)
    } else {
      this.#inFlight += 1
      this.#run(exchange)
    }
    return exchange
  }

  /** Creates the signals of requests that last. True while some may still need it. */
  watchSignals(now: number): boolean {
    let isMore = false
    for (const { exchange } of this.#open) isMore = exchange?.watchSignal(now) || isMore
    return isMore
  }

  close(error: OutboundError): void {
    // Fail the waiting requests first: each ended request would otherwise start one of them.
    for (const exchange of [...this.#waiting, ...this.#connecting]) exchange.onFailed(error, false)
    for (const connection of this.#open) connection.fail(error)
  }

  /**
   * Keeps the connection for another request, but no more than there are turns: event streams that end together would
   * otherwise leave no room to dial.
   */
  onFree(connection: Http1Connection): void {
    if (this.#idle.length >= this.#options.limits.maxInFlight) {
      connection.fail(new OutboundError('aborted', `${this.label} needs no more connections`))
      return
    }
    this.#idle.push(connection)
    this.#options.idle.add(connection)
  }

  onGone(connection: Http1Connection): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    this.#options.idle.delete(connection)
  }

  retry(exchange: OutboundExchange): void {
    void this.#connect(exchange)
  }

  /** A lasting exchange gives its turn back. Above the limit, the latest keep theirs. */
  onLasting(exchange: OutboundExchange): void {
    if (this.#lasting.size >= this.#options.limits.maxInFlight * LASTING_PER_REQUEST) return
    this.#lasting.add(exchange)
    this.#endTurn()
  }

  onLeft(exchange: OutboundExchange): void {
    if (this.#waiting.delete(exchange)) return
    if (!this.#lasting.delete(exchange)) this.#endTurn()
    this.#reportIfEmpty()
  }

  #endTurn(): void {
    this.#inFlight -= 1
    const [next] = this.#waiting
    if (next !== undefined) {
      this.#waiting.delete(next)
      this.#inFlight += 1
      this.#run(next)
    }
  }

  #run(exchange: OutboundExchange): void {
    try {
      const addresses = this.#options.knownAddresses()
      const connection = addresses === null ? null : this.#takeIdle(addresses, exchange)
      if (connection === null) void this.#connect(exchange)
      else exchange.startOn(connection)
    } catch (error) {
      exchange.onFailed(toOutboundError(error), false)
    }
  }

  /** Only connections to an address that is allowed now are used. */
  #takeIdle(addresses: readonly string[], exchange: OutboundExchange): Http1Connection | null {
    for (;;) {
      const connection = this.#idle.at(-1)
      if (connection === undefined) return null
      const isFresh = () => performance.now() - connection.idleSince < FRESH_IDLE_MS
      if (!exchange.request.isRepeatable && !isFresh()) return null
      this.#idle.pop()
      this.#options.idle.delete(connection)
      if (addresses.includes(connection.address)) return connection
      connection.fail(new OutboundError('aborted', `${this.label} has moved`))
    }
  }

  async #connect(exchange: OutboundExchange): Promise<void> {
    this.#connecting.add(exchange)
    try {
      const gaveUp = exchange.limitWait(false)
      const addresses = await this.#options.addresses()
      const connection = await this.#dialAny(addresses, gaveUp)
      if (exchange.isOver) connection.fail(new OutboundError('aborted', `${this.label} is not needed`))
      else exchange.startOn(connection)
    } catch (error) {
      exchange.onFailed(toOutboundError(error), false)
    } finally {
      this.#connecting.delete(exchange)
    }
  }

  /** Tries the addresses in order and returns the first connection that is up and verified. */
  async #dialAny(addresses: readonly string[], gaveUp: AbortSignal): Promise<Http1Connection> {
    let failure: unknown = new OutboundError('dns', `${this.label} has no address`)
    for (const [index, address] of addresses.entries()) {
      if (gaveUp.aborted) throw gaveUp.reason
      try {
        const isLast = index === addresses.length - 1
        return await this.#dial(address, isLast ? gaveUp : AbortSignal.any([gaveUp, tooSlow(this.label)]))
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async #dial(address: string, gaveUp: AbortSignal): Promise<Http1Connection> {
    const { limits, target } = this.#options
    if (this.#sockets - this.#lasting.size >= limits.maxInFlight * MAX_SOCKETS_PER_REQUEST)
      throw overloaded(this.label)
    this.#sockets += 1
    const socket = await dial({ ...target, address }, gaveUp, () => {
      this.#sockets -= 1
      this.#reportIfEmpty()
    })
    const connection = new Http1Connection(socket, address, this)
    this.#open.add(connection)
    return connection
  }

  #reportIfEmpty(): void {
    if (this.#inFlight === 0 && this.#sockets === 0 && this.#waiting.size === 0) this.#options.onEmpty()
  }
}

function tooSlow(label: string): AbortSignal {
  const controller = new AbortController()
  const error = new OutboundError('timeout', `${label} was not reached within ${ADDRESS_TIMEOUT_MS} ms`)
  setTimeout(() => controller.abort(error), ADDRESS_TIMEOUT_MS).unref()
  return controller.signal
}

const overloaded = (label: string) =>
  new OutboundError('overloaded', `Too many requests to ${label} are in progress. Try again in a moment.`)

const toOutboundError = (error: unknown): OutboundError =>
  error instanceof OutboundError ? error : new OutboundError('broken', 'The request failed', error)
