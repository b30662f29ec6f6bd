import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { parseIp } from '../domain/ip-ranges.ts'
import type { Answer } from './http1/connection.ts'
import { KnownHeads } from './http1/known-heads.ts'
import { type RequestBody, toWireRequest } from './http1/request.ts'
import { type AddressRules, addressRules, bareHostname } from './outbound/addresses.ts'
import { Backend, type BackendLimits } from './outbound/backend.ts'
import { trustedCas } from './outbound/ca.ts'
import { OutboundError } from './outbound/error.ts'
import type { IdleTimeout, LazySignal } from './outbound/exchange.ts'
import { IdleConnections } from './outbound/idle.ts'
import { type CachingResolver, cachingResolver, type Resolve, systemResolve } from './outbound/resolver.ts'
import { SignalWatch } from './outbound/signals.ts'

export type OutboundOptions = {
  /** The machine's own resolver where nothing is given. */
  resolve?: Resolve
  /** `PROXY_ALLOWED_TARGETS`: `host`, `host:port`, CIDR or address, lower case. */
  allowedTargets: readonly string[]
  /** Certificates of further CAs, as `readExtraCas` gives them; null for Bun's own CAs alone. */
  extraCaPem: string | null
  limits?: BackendLimits
  /** Milliseconds, from any start on and never back: how old an answer of the resolver is. */
  now?: () => number
}

export type OutboundRequest = {
  method: string
  /** `host` replaces the URL's; those that frame the message or belong to the connection are dropped. */
  headers: Iterable<readonly [string, string]>
  body: RequestBody
  /** Path and query to send byte for byte, where the URL's would have been normalised. */
  target?: string
  /** For all up to the head of the answer: waiting, resolving, connecting. Progress of a body starts it anew. */
  headTimeoutMs: number
  /** For every silence after the head; a function sees the head first. */
  idleTimeoutMs: IdleTimeout
  signal?: LazySignal
  /** Plain HTTP too, for proofs that a domain is ours; never for proxying. */
  mayBePlain?: boolean
}

export type UpgradeRequest = Pick<
  OutboundRequest,
  'headers' | 'target' | 'headTimeoutMs' | 'idleTimeoutMs' | 'signal'
>

export type OutboundResponse = {
  status: number
  /** Names in lower case, values as they came; framing and hop-by-hop ones are still among them. */
  headers: readonly HeaderPair[]
  /** `headers` is the very object of an earlier answer, so that what was made of it may be used again. */
  isKnownHead?: boolean
  /** Whole when it came at once, a stream else; a failing stream is an `OutboundError`. */
  body: ReadableStream<Uint8Array> | Uint8Array | null
}

/** The one way out to the network. Requests reject with `OutboundError`; redirects are not followed. */
export type Outbound = {
  /**
   * For saving: throws `AppError` 400 `PROXY_TARGET_NOT_HTTPS` or `PROXY_TARGET_NOT_ALLOWED`. A name that does
   * not resolve passes: every request checks again. contract §8.
   */
  checkTarget(url: URL): Promise<void>
  request(url: URL, request: OutboundRequest): Promise<OutboundResponse>
  /** GET with `Upgrade: websocket`. `tunnel` is there after 101; else the answer is a plain one. */
  upgrade(url: URL, request: UpgradeRequest): Promise<Answer>
  /** Cuts everything that is under way. */
  close(): void
}

const DEFAULT_LIMITS: BackendLimits = { mostInFlight: 256, mostWaiting: 256 }

export function createOutbound(options: OutboundOptions): Outbound {
  const { limits = DEFAULT_LIMITS, resolve = systemResolve, now = () => performance.now() } = options
  const shared: Shared = {
    limits,
    ca: once(() => trustedCas(options.extraCaPem)),
    rules: addressRules(options.allowedTargets),
    resolver: cachingResolver(resolve, now),
    idle: new IdleConnections(),
    knownHeads: new KnownHeads(),
    backends: new Map(),
  }
  const signals = new SignalWatch((now) => {
    let isMore = false
    for (const backend of shared.backends.values()) isMore = backend.watchSignals(now) || isMore
    return isMore
  })

  const start = (url: URL, request: OutboundRequest, upgrade: string | null): Promise<Answer> => {
    const { protocol, host, origin } = partsOf(url)
    if (protocol !== 'https:' && !(request.mayBePlain && protocol === 'http:'))
      throw new OutboundError('bad_request', 'The target must be an HTTPS URL')
    const { method, headers, body, headTimeoutMs, idleTimeoutMs, signal = null } = request
    const target = request.target ?? url.pathname + url.search
    const wire = toWireRequest({ method, target, host, headers, body, upgrade })
    if (typeof signal === 'function') signals.begun()
    else if (signal?.aborted) throw new OutboundError('aborted', `The request to ${host} was given up`)
    const pool = upgrade === null ? origin : `${origin} ${upgrade}`
    const backend = shared.backends.get(pool) ?? createBackend(shared, url, pool)
    const { label } = backend
    return backend.request({ label, request: wire, upgrade, headTimeoutMs, idleTimeoutMs, signal }).answer
  }

  /** Not an async function: that would make every answer wait for one more promise. */
  const send = (url: URL, request: OutboundRequest, upgrade: string | null): Promise<Answer> => {
    try {
      return start(url, request, upgrade)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return {
    checkTarget: (url) => checkTarget(shared, url),
    request: (url, request) => send(url, request, null),
    upgrade: (url, request) => send(url, { ...request, method: 'GET', body: null }, 'websocket'),
    close() {
      const error = new OutboundError('aborted', 'The service is stopping')
      for (const backend of [...shared.backends.values()]) backend.close(error)
    },
  }
}

type Shared = {
  limits: BackendLimits
  /** Found for the first connection: the start does not wait for it. */
  ca: () => readonly string[] | null
  rules: AddressRules
  resolver: CachingResolver
  idle: IdleConnections
  knownHeads: KnownHeads
  backends: Map<string, Backend>
}

async function checkTarget({ rules, resolver }: Shared, url: URL): Promise<void> {
  if (url.protocol !== 'https:')
    throw new AppError('invalid', 'The target must start with https://', { code: 'PROXY_TARGET_NOT_HTTPS' })
  if (url.username !== '' || url.password !== '')
    throw notAllowed('The target must not carry a user name. Add an Authorization header instead.')
  const { name, port } = placeOf(url)
  const addresses = isLiteral(name) ? [name] : await resolver.resolve(name).catch(() => [])
  if (isForbidden(rules, name, port) || rules.allowedOf(name, port, addresses) === null)
    throw notAllowed(
      `${url.host} is not a public address. The operator can name it in PROXY_ALLOWED_TARGETS.`,
    )
}

const notAllowed = (message: string) => new AppError('invalid', message, { code: 'PROXY_TARGET_NOT_ALLOWED' })

type UrlParts = { href: string; protocol: string; host: string; origin: string }

const knownParts = new WeakMap<URL, UrlParts>()

/** A rule hands in the same URL for each of its requests, and asking it for its parts makes new strings each time. */
function partsOf(url: URL): UrlParts {
  const known = knownParts.get(url)
  if (known !== undefined && known.href === url.href) return known
  const { href, protocol, host, origin } = url
  const parts = { href, protocol, host, origin }
  knownParts.set(url, parts)
  return parts
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** WebSockets last: many of them must not take the turns of requests, so they have a limit of their own. */
const WEBSOCKETS_PER_REQUEST = 16

function createBackend(shared: Shared, url: URL, pool: string): Backend {
  const { name, port } = placeOf(url)
  const { mostInFlight, mostWaiting } = shared.limits
  const isOfRequests = pool === url.origin
  const label = `${url.hostname}:${port}`
  const backend = new Backend({
    label,
    limits: {
      mostInFlight: isOfRequests ? mostInFlight : mostInFlight * WEBSOCKETS_PER_REQUEST,
      mostWaiting,
    },
    idle: shared.idle,
    knownHeads: shared.knownHeads,
    emptied: () => shared.backends.delete(pool),
    target: { port, label, ca: shared.ca(), serverName: url.protocol === 'https:' ? name : null },
    ...checkedAddresses(shared, name, port),
  })
  shared.backends.set(pool, backend)
  return backend
}

/** Every answer of the resolver is checked before it is used, and the same one once. */
function checkedAddresses({ rules, resolver }: Shared, name: string, port: number) {
  const literal = isLiteral(name) ? [name] : null
  const isRefused = isForbidden(rules, name, port)
  let checked: readonly string[] | null = null
  let allowed: readonly string[] | null = null

  const check = (addresses: readonly string[]): readonly string[] => {
    if (addresses !== checked) allowed = rules.allowedOf(name, port, addresses)
    checked = addresses
    if (allowed === null) throw blocked(name)
    return allowed
  }
  const knownAddresses = (): readonly string[] | null => {
    if (isRefused) throw blocked(name)
    const known = literal ?? resolver.known(name)
    return known === null ? null : check(known)
  }
  const addresses = async () => knownAddresses() ?? check(await resolveOrFail(resolver, name))
  return { knownAddresses, addresses }
}

const isForbidden = (rules: AddressRules, name: string, port: number) =>
  port === 0 || rules.isForbiddenName(name, port)

const blocked = (name: string) =>
  new OutboundError('blocked', `${name} leads to an address that is not public, and is not an allowed target`)

async function resolveOrFail(resolver: CachingResolver, name: string): Promise<readonly string[]> {
  try {
    return await resolver.resolve(name)
  } catch (error) {
    throw new OutboundError('dns', `The name ${name} does not resolve`, error)
  }
}

function placeOf(url: URL): { name: string; port: number } {
  const usual = url.protocol === 'https:' ? 443 : 80
  return { name: bareHostname(url.hostname), port: url.port === '' ? usual : Number(url.port) }
}

const isLiteral = (name: string) => parseIp(name) !== null
