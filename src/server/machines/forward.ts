import type { Context, Machine } from '../../context.ts'
import { HOUR_MS } from '../../domain/durations.ts'
import { AppError } from '../../domain/errors.ts'
import { type HeaderPair, HOP_BY_HOP } from '../../domain/forward-headers.ts'
import { isSafe } from '../../domain/safe-methods.ts'
import { notPrimary, primaryUnreachable } from '../../domain/store-errors.ts'
import type { Arrival } from '../../http/arrival.ts'
import { isWebSocket, joinSockets } from '../../http/join-sockets.ts'
import { headersOfHead, relayed, Silence } from '../../http/relayed.ts'
import { forwardCounts } from '../../modules/machines/forward-counts.ts'
import { readExtraCas } from '../../platform/outbound/ca.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'
import { randomBytes } from '../../platform/random.ts'
import { isPlainRead } from '../../site/serve-asset.ts'
import { LONG_SILENCE_MS } from '../../site/serve-proxy.ts'
import { MACHINE_HEADER, type MachineKeys, type SignedRequest, signForwarded } from './machine-header.ts'
import { OfferedBody } from './offered-body.ts'
import { PrimaryLine } from './primary-line.ts'
import { keysOf, signedRequest } from './senders.ts'
import { WaitingRequests } from './waiting.ts'

/** So many requests in one millisecond are told apart. */
const PARTS_OF_MS = 1_000

/** How long it may take to reach the primary, also a new one; how long it works it knows best. */
export const REACH_MS = 5_000
const AGAIN_AFTER_MS = 250
const HOW = {
  connectTimeoutMs: REACH_MS,
  headTimeoutMs: HOUR_MS,
  idleTimeoutMs: LONG_SILENCE_MS,
  mayBePlain: true,
} as const

/** The machine's way to the primary, for requests of visitors that it may not answer. contract 18 §6. */
export class Forwarder {
  readonly #ctx: Context
  readonly #machine: Machine
  readonly #keys: MachineKeys | null
  readonly #line: PrimaryLine
  readonly #reachMs: number
  readonly #waiting = new WaitingRequests()
  /** Among the machines that a request came through. */
  readonly #id = randomBytes(8).toString('hex')
  #signed = 0

  constructor(ctx: Context, machine: Machine, reachMs: number) {
    const { nodeExtraCaCerts } = ctx.config
    this.#ctx = ctx
    this.#machine = machine
    this.#reachMs = reachMs
    this.#keys = keysOf(ctx)
    this.#line = new PrimaryLine(nodeExtraCaCerts === null ? null : readExtraCas(nodeExtraCaCerts))
  }

  /** `machines`: through which it came already, whoever says so. Rejects with `AppError`. */
  async forward(arrival: Arrival, machines: readonly string[]): Promise<Response> {
    if (machines.includes(this.#id)) throw notPrimary()
    const body = new OfferedBody(arrival.request.body)
    try {
      return await this.#reach(arrival, machines, body)
    } catch (error) {
      body.drop()
      throw this.#failureOf(arrival.request, error)
    }
  }

  close(): void {
    this.#line.close()
  }

  /** What no primary has got is sent until one is reached: while a new one begins there is none. A read is sent twice at most. */
  async #reach(arrival: Arrival, machines: readonly string[], body: OfferedBody): Promise<Response> {
    const { request } = arrival
    let mayRepeat = isPlainRead(request) && request.body === null && !isWebSocket(request)
    const end = performance.now() + this.#reachMs
    for (;;) {
      try {
        return await this.#send(arrival, machines, body.offer())
      } catch (error) {
        if (!isFailure(error) || request.signal.aborted) throw error
        if (isNobodyThere(error) && !body.isRead) {
          if (performance.now() > end) throw error
        } else if (mayRepeat) mayRepeat = false
        else throw error
      }
      await Bun.sleep(AGAIN_AFTER_MS)
    }
  }

  /** Throws `OutboundError` where no answer has begun. */
  async #send(
    arrival: Arrival,
    machines: readonly string[],
    body: ReadableStream<Uint8Array> | null,
  ): Promise<Response> {
    const { request, method, target } = arrival
    const origin = this.#machine.primary()?.url ?? null
    const headers = this.#headersOf(arrival, machines)
    if (origin === null) throw primaryUnreachable(false)
    const { url, outbound } = this.#line.to(origin)
    if (isWebSocket(request)) {
      const how = { ...HOW, headers, target, relayed: headersFrom }
      const answer = await joinSockets(arrival, outbound, url, how)
      return answer === null ? new Response(null) : this.#relay(method, answer, new Silence(undefined))
    }
    const isReplaced = () => this.#machine.primary()?.url !== origin
    const silence = new Silence((isAllowed) => arrival.peer.allowSilence?.(isAllowed))
    const wait = this.#waiting.begin({ url, outbound, isReplaced }, isSafe(method) ? 'read' : 'change')
    const signal = () => {
      silence.begin()
      return AbortSignal.any([request.signal, wait.signal])
    }
    try {
      const answer = await outbound.request(url, { ...HOW, headers, target, method, body, signal })
      return this.#relay(method, answer, silence)
    } catch (error) {
      silence.end()
      throw error
    } finally {
      wait.end()
    }
  }

  /** The visitor's, unchanged but for those of their own connection, and who the visitor is. RFC 9110 §7.6.1. */
  #headersOf(arrival: Arrival, machines: readonly string[]): HeaderPair[] {
    if (this.#keys === null) throw notPrimary()
    const { request, address, isSecure, hostHeader } = arrival
    const named = namedIn(request.headers.get('connection'))
    const passed = [...request.headers].filter(([name]) => !HOP_BY_HOP.has(name) && !named.has(name))
    const said = { address, isSecure, hostHeader, machines: [...machines, this.#id] }
    return [...passed, [MACHINE_HEADER, signForwarded(this.#keys, said, this.#signedOnce(arrival))]]
  }

  /** Two equal requests at the same time are not one that was sent again. */
  #signedOnce(arrival: Arrival): SignedRequest {
    const { at, ...request } = signedRequest(this.#ctx, arrival)
    this.#signed = (this.#signed + 1) % PARTS_OF_MS
    return { ...request, at: at + this.#signed / PARTS_OF_MS }
  }

  #relay(method: string, answer: OutboundResponse, silence: Silence): Response {
    const headers = headersFrom(answer.headers)
    const counts = forwardCounts(this.#ctx)
    const broken = (error: unknown) => {
      counts.broken += 1
      this.#ctx.log.warn('the primary did not send a complete answer', { error })
    }
    counts.answered += 1
    return relayed(method, answer, method === 'HEAD' ? headersOfHead(headers) : headers, { silence, broken })
  }

  #failureOf(request: Request, error: unknown): unknown {
    if (error instanceof OutboundError && error.kind === 'bad_request')
      return new AppError('invalid', error.message)
    if (!isFailure(error)) return error
    if (!request.signal.aborted) {
      forwardCounts(this.#ctx).unreachable += 1
      this.#ctx.log.warn('the primary cannot be reached', { error })
    }
    if (error instanceof AppError) return error
    return primaryUnreachable(!isSafe(request.method) && !NEVER_SENT.has(error.kind))
  }
}

const NEVER_SENT: ReadonlySet<OutboundError['kind']> = new Set([
  'dns',
  'blocked',
  'refused',
  'tls',
  'overloaded',
])

const isNobodyThere = (error: OutboundError | AppError): boolean =>
  error instanceof AppError || error.kind === 'refused'

const isFailure = (error: unknown): error is OutboundError | AppError =>
  error instanceof OutboundError
    ? error.kind !== 'bad_request'
    : error instanceof AppError && error.code === 'PRIMARY_UNREACHABLE'

/** The primary's, in its order. */
function headersFrom(pairs: readonly HeaderPair[]): Headers {
  const named = namedIn(pairs.flatMap(([name, value]) => (name === 'connection' ? value : [])).join(','))
  const headers = new Headers()
  for (const [name, value] of pairs)
    if (!HOP_BY_HOP.has(name) && !named.has(name)) headers.append(name, value)
  return headers
}

const NONE: ReadonlySet<string> = new Set()
const namedIn = (options: string | null): ReadonlySet<string> =>
  options === null || options === ''
    ? NONE
    : new Set(options.split(',').map((name) => name.trim().toLowerCase()))
