import { Http1Connection } from '../http1/connection.ts'
import type { KnownHeads } from '../http1/known-heads.ts'
import { type DialTarget, dial } from './dial.ts'
import { OutboundError } from './error.ts'
import { type ExchangeOptions, OutboundExchange } from './exchange.ts'
import type { IdleConnections } from './idle.ts'

export type BackendLimits = {
  /** Requests under way, and those waiting for their turn. */
  mostInFlight: number
  mostWaiting: number
}

/** What lasts must not take the turns of requests: so many event streams for each of them have a place of their own. */
const LASTING_PER_REQUEST = 16

/** Connections, attempts at one, and attempts that were given up but that the system still holds. */
const MOST_SOCKETS_PER_REQUEST = 2
/** A request that cannot be repeated takes no connection that was idle for longer: it may be closing just now. */
const FRESH_IDLE_MS = 2_000
/** How long one of several addresses has to come up before the next is tried. */
const ADDRESS_TIMEOUT_MS = 3_000

type BackendOptions = {
  label: string
  limits: BackendLimits
  knownHeads: KnownHeads
  target: Omit<DialTarget, 'address'>
  /** The addresses that may be dialled now: at once where they are known. Throws `OutboundError`. */
  knownAddresses: () => readonly string[] | null
  addresses: () => Promise<readonly string[]>
  idle: IdleConnections
  /** Nothing is left here. */
  emptied: () => void
}

/**
 * One backend: its connections, and a limit of its own for requests under way, so that a backend that hangs
 * keeps nobody waiting but its own visitors.
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

  /** Throws `OutboundError` `overloaded` when too many wait already. */
  request(options: ExchangeOptions): OutboundExchange {
    const { mostInFlight, mostWaiting } = this.#options.limits
    const mustWait = this.#inFlight >= mostInFlight
    if (mustWait && this.#waiting.size >= mostWaiting) throw overloaded(this.label)
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

  /** Asks for the signals of requests that last. True while there are some that may. */
  watchSignals(now: number): boolean {
    let isMore = false
    for (const { exchange } of this.#open) isMore = exchange?.watchSignal(now) || isMore
    return isMore
  }

  close(error: OutboundError): void {
    // First those that wait: else each that ends would let one of them begin.
    for (const exchange of [...this.#waiting, ...this.#connecting]) exchange.failed(error, false)
    for (const connection of this.#open) connection.fail(error)
  }

  /** Kept for the next, but for more than there are turns: event streams that ended together would leave no room to dial. */
  free(connection: Http1Connection): void {
    if (this.#idle.length >= this.#options.limits.mostInFlight) {
      connection.fail(new OutboundError('aborted', `${this.label} needs no more connections`))
      return
    }
    this.#idle.push(connection)
    this.#options.idle.add(connection)
  }

  gone(connection: Http1Connection): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    this.#options.idle.delete(connection)
  }

  retry(exchange: OutboundExchange): void {
    void this.#connect(exchange)
  }

  /** It gives its turn back. Of too many, the last keep theirs. */
  lasts(exchange: OutboundExchange): void {
    if (this.#lasting.size >= this.#options.limits.mostInFlight * LASTING_PER_REQUEST) return
    this.#lasting.add(exchange)
    this.#turnEnded()
  }

  left(exchange: OutboundExchange): void {
    if (this.#waiting.delete(exchange)) return
    if (!this.#lasting.delete(exchange)) this.#turnEnded()
    this.#tellWhenEmpty()
  }

  #turnEnded(): void {
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
      exchange.failed(toOutboundError(error), false)
    }
  }

  /** A connection counts only while its address is among those that are allowed now. */
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
      exchange.failed(toOutboundError(error), false)
    } finally {
      this.#connecting.delete(exchange)
    }
  }

  /** The addresses in turn: the first that comes up and proves itself. */
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
    if (this.#sockets - this.#lasting.size >= limits.mostInFlight * MOST_SOCKETS_PER_REQUEST)
      throw overloaded(this.label)
    this.#sockets += 1
    const socket = await dial({ ...target, address }, gaveUp, () => {
      this.#sockets -= 1
      this.#tellWhenEmpty()
    })
    const connection = new Http1Connection(socket, address, this)
    this.#open.add(connection)
    return connection
  }

  #tellWhenEmpty(): void {
    if (this.#inFlight === 0 && this.#sockets === 0 && this.#waiting.size === 0) this.#options.emptied()
  }
}

function tooSlow(label: string): AbortSignal {
  const controller = new AbortController()
  const error = new OutboundError('timeout', `${label} was not reached within ${ADDRESS_TIMEOUT_MS} ms`)
  setTimeout(() => controller.abort(error), ADDRESS_TIMEOUT_MS).unref()
  return controller.signal
}

const overloaded = (label: string) =>
  new OutboundError('overloaded', `Too many requests for ${label} are under way. Try again in a moment.`)

const toOutboundError = (error: unknown): OutboundError =>
  error instanceof OutboundError ? error : new OutboundError('broken', 'The request failed', error)
