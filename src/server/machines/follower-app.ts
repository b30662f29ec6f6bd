import type { Context, Machine } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { notPrimary, tooStale } from '../../domain/store-errors.ts'
import { Arrival, type Peer } from '../../http/arrival.ts'
import { errorResponse } from '../../http/error-response.ts'
import { keepFromCdn } from '../../site/cdn-mark.ts'
import { serveKnownUrl } from '../../site/known-urls.ts'
import { resolveHost } from '../../site/resolve-site.ts'
import { isOurs, isPlainRead } from '../../site/serve-asset.ts'
import type { App } from '../app.ts'
import { dated, seenIn, serveOpenFile, told } from '../front-door.ts'
import { loadEndpoints } from '../load-endpoints.ts'
import type { Endpoints } from '../route-request.ts'
import { isAboutItself, isPathForm } from './asked-path.ts'
import { Forwarder, REACH_MS } from './forward.ts'
import { MACHINE_HEADER, type MachineKeys } from './machine-header.ts'
import { keysOf, takeOrigin } from './senders.ts'
import { type WrittenAt, writtenAt } from './written-at.ts'

/** How a machine that follows stands to the log. */
export type Followed = {
  /** Applied here. */
  readonly number: number
  /** The log has a schema that this executable does not know, or not yet the one that it needs: nothing here can be read. */
  readonly isNewer: boolean
  readonly isOlder: boolean
  /** By `performance.now()`: when the store was last known to have nothing that is not here. */
  readonly currentAt: number
  /** Resolves with true once the number is applied, with false after `ms` or where too many wait. */
  reached(number: number, ms: number): Promise<boolean>
}

export type FollowerApp = App & { close(): void }

/** After so long without the store nobody's access is decided here. contract 18 §6. */
const SURE_MS = 5_000
const WRITTEN_WAIT_MS = 1_000
/** Who names a number this far ahead made it up, or is not to wait for so much. */
const FAR_AHEAD = 10_000

/** The server of a stand-by or node: answers what it may, and passes the rest on to the primary. */
export const createFollowerApp = (
  ctx: Context,
  machine: Machine,
  { following, reachMs = REACH_MS }: { following: Followed; reachMs?: number },
): FollowerApp => new FollowerDoor(ctx, machine, following, new Forwarder(ctx, machine, reachMs))

type Here = typeof import('./answer-here.ts')

class FollowerDoor implements FollowerApp {
  readonly #ctx: Context
  readonly #machine: Machine
  readonly #following: Followed
  readonly #forwarder: Forwarder
  readonly #keys: MachineKeys | null
  readonly #seen: ReturnType<typeof seenIn>
  /** Loaded when the first request needs more than a file of an open site. */
  #here: { answers: Here; endpoints: Endpoints } | undefined
  /** Those that the primary counts and logs. */
  readonly #passedOn = new WeakSet<Response>()

  constructor(ctx: Context, machine: Machine, following: Followed, forwarder: Forwarder) {
    this.#ctx = ctx
    this.#machine = machine
    this.#following = following
    this.#forwarder = forwarder
    this.#keys = keysOf(ctx)
    this.#seen = seenIn(ctx)
  }

  readonly fetch = (request: Request, peer: Peer): Response | Promise<Response> => {
    const startedAt = performance.now()
    const arrival = new Arrival(this.#ctx.config, request, peer)
    if (this.#isSure(startedAt) && this.#isUsual(request)) {
      const file = serveKnownUrl(this.#ctx, request)
      if (file !== undefined) return this.#seen(arrival, file, startedAt)
    }
    const answered = this.#answer(arrival, startedAt)
    return answered instanceof Response
      ? this.#finish(arrival, answered, startedAt)
      : answered.then((response) => this.#finish(arrival, response, startedAt))
  }

  close(): void {
    this.#forwarder.close()
  }

  /** Whether what is here is so new that it may decide who may see what. */
  #isSure(now: number): boolean {
    const { currentAt, isNewer, isOlder } = this.#following
    return now - currentAt < SURE_MS && !isNewer && !isOlder
  }

  /** Not sent by another machine, and not ahead of this one. */
  #isUsual({ headers }: Request): boolean {
    return !headers.has(MACHINE_HEADER) && this.#isReached(writtenAt(headers.get('cookie')))
  }

  #isReached(at: WrittenAt | null): boolean {
    return at === null || at.number <= this.#following.number
  }

  #answer(arrival: Arrival, now: number): Response | Promise<Response> {
    const origin = takeOrigin(this.#ctx, this.#keys, arrival.request, arrival.peer)
    // It is forwarded once.
    if (origin.by !== 'anybody') return errorResponse(notPrimary())
    const forward = () => this.#forward(arrival, origin.machines)
    if (!isPlainRead(arrival)) return forward()
    if (isAboutItself(arrival.path)) return this.#tryHere(arrival, now, forward)
    if (this.#isOfPrimary(arrival)) return forward()
    if (this.#isTooStale(now)) return this.#failure(arrival, tooStale())
    const at = writtenAt(arrival.request.headers.get('cookie'))
    if (at === null || this.#isReached(at)) return this.#tryHere(arrival, now, forward)
    return this.#awaited(at).then((isReached) =>
      isReached ? this.#tryHere(arrival, performance.now(), forward) : forward(),
    )
  }

  /** What needs no look at what is here. */
  #isOfPrimary({ path, plain, hostHeader }: Arrival): boolean {
    const { isNewer, isOlder } = this.#following
    if (isNewer || isOlder || plain.startsWith('/api/')) return true
    return resolveHost(this.#ctx, hostHeader)?.kind === 'admin' && !isPathForm(path) && !isOurs(plain)
  }

  #isTooStale(now: number): boolean {
    const { nodeStaleSeconds } = this.#ctx.config
    return nodeStaleSeconds > 0 && now - this.#following.currentAt >= nodeStaleSeconds * 1000
  }

  async #awaited({ epoch, number }: WrittenAt): Promise<boolean> {
    if (epoch > this.#machine.epoch() + 1 || number > this.#following.number + FAR_AHEAD) return false
    return this.#following.reached(number, WRITTEN_WAIT_MS)
  }

  #tryHere(arrival: Arrival, now: number, forward: () => Promise<Response>): Response | Promise<Response> {
    const isSure = this.#isSure(now)
    const file = this.#here === undefined ? this.#openFile(arrival) : undefined
    if (file !== undefined) return this.#toldHere(arrival, file, isSure)
    return this.#answerHere(arrival, isSure).then(
      (response) => (response === undefined ? forward() : this.#toldHere(arrival, response, isSure)),
      (error) => (isOfPrimary(error) ? forward() : this.#failure(arrival, error)),
    )
  }

  /** Before everything else is loaded. */
  #openFile(arrival: Arrival): Response | undefined {
    return isAboutItself(arrival.path)
      ? undefined
      : serveOpenFile(this.#ctx, arrival, ({ isShared }) => isShared)
  }

  async #answerHere(arrival: Arrival, isSure: boolean): Promise<Response | undefined> {
    this.#here ??= await loadHere(this.#ctx)
    const { answers, endpoints } = this.#here
    const asked = { ctx: this.#ctx, endpoints, arrival, isSure }
    return isAboutItself(arrival.path) ? answers.answerAboutItself(asked) : answers.answerHere(asked)
  }

  /** Of what may be too old no shared cache keeps a copy. */
  #toldHere(arrival: Arrival, response: Response, isSure: boolean): Response {
    const answer = told(this.#ctx, arrival, dated(this.#ctx, arrival.request, response))
    if (!isSure && answer.headers.has('cdn-cache-control')) keepFromCdn(answer.headers)
    return answer
  }

  async #forward(arrival: Arrival, machines: readonly string[]): Promise<Response> {
    try {
      const response = await this.#forwarder.forward(arrival, machines)
      this.#passedOn.add(response)
      return response
    } catch (error) {
      return this.#failure(arrival, error)
    }
  }

  async #failure(arrival: Arrival, error: unknown): Promise<Response> {
    const { request, path } = arrival
    const { failure } = await loadEndpoints(this.#ctx)()
    return told(this.#ctx, arrival, failure(request, path, error))
  }

  #finish(arrival: Arrival, response: Response, startedAt: number): Response {
    return this.#passedOn.has(response) ? response : this.#seen(arrival, response, startedAt)
  }
}

const isOfPrimary = (error: unknown): boolean => error instanceof AppError && error.code === 'NOT_PRIMARY'

async function loadHere(ctx: Context): Promise<{ answers: Here; endpoints: Endpoints }> {
  const [endpoints, answers] = await Promise.all([loadEndpoints(ctx)(), import('./answer-here.ts')])
  return { answers, endpoints }
}
