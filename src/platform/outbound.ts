import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { parseIp } from '../domain/ip-ranges.ts'
import type { Answer } from './http1/connection.ts'
import { KnownHeads } from './http1/known-heads.ts'
import { type RequestBody, toWireRequest } from './http1/request.ts'
import { once } from './once.ts'
import { type AddressRules, addressRules, bareHostname } from './outbound/addresses.ts'
import { Backend, type BackendLimits } from './outbound/backend.ts'
import { trustedCas } from './outbound/ca.ts'
import { OutboundError } from './outbound/error.ts'
import type { IdleTimeout, LazySignal } from './outbound/exchange.ts'
import { IdleConnections } from './outbound/idle.ts'
import { type CachingResolver, cachingResolver, type Resolve, systemResolve } from './outbound/resolver.ts'
import { SignalWatch } from './outbound/signals.ts'

export type OutboundOptions = {
  /** Defaults to the resolver of the system. */
  resolve?: Resolve
  /** `PROXY_ALLOWED_TARGETS`: `host`, `host:port`, CIDR or address, lower case. */
  allowedTargets: readonly string[]
  /** Certificates of additional CAs, from `readExtraCas`; null for only Bun's own CAs. */
  extraCaPem: string | null
  limits?: BackendLimits
  /** A monotonic clock in milliseconds with any start: it measures the age of resolved addresses. */
  now?: () => number
}

export type OutboundRequest = {
  method: string
  /** `host` replaces that of the URL. Framing and hop-by-hop headers are dropped. */
  headers: Iterable<readonly [string, string]>
  body: RequestBody
  /** Path and query to send byte for byte, if those of the URL would have been normalised. */
  target?: string
  /**
   * Limits everything up to the head of the response: queueing, resolving, connecting. Progress of a body restarts it.
   */
  headTimeoutMs: number
  /** Limits queueing, resolving and connecting, if that may take less long. */
  connectTimeoutMs?: number
  /** Limits every silence after the head; a function gets the head to decide. */
  idleTimeoutMs: IdleTimeout
  signal?: LazySignal
  /** Also allows plain HTTP, for domain ownership checks; never for proxying. */
  mayBePlain?: boolean
}

export type UpgradeRequest = Pick<
  OutboundRequest,
  'headers' | 'target' | 'headTimeoutMs' | 'connectTimeoutMs' | 'idleTimeoutMs' | 'signal' | 'mayBePlain'
>

export type OutboundResponse = {
  status: number
  /** Names in lower case, values as received, including framing and hop-by-hop headers. */
  headers: readonly HeaderPair[]
  /** `headers` is the same object as in an earlier response, so that values derived from it can be reused. */
  isKnownHead?: boolean
  /** Bytes if it came at once, otherwise a stream. A failing stream fails with an `OutboundError`. */
  body: ReadableStream<Uint8Array> | Uint8Array | null
}

/** `mayBePlainIfNamed`: allows `http://` too where `PROXY_ALLOWED_TARGETS` names the target. contract 16 §4. */
export type TargetOptions = { mayBePlainIfNamed?: boolean }

/** The only way out to the network. Requests reject with `OutboundError`; redirects are not followed. */
export type Outbound = {
  /**
   * For saving a rule: throws `AppError` 400 `PROXY_TARGET_NOT_HTTPS` or `PROXY_TARGET_NOT_ALLOWED`. Accepts a name
   * that does not resolve, because every request checks again. contract §8.
   */
  checkTarget(url: URL, options?: TargetOptions): Promise<void>
  request(url: URL, request: OutboundRequest): Promise<OutboundResponse>
  /** A GET with `Upgrade: websocket`. `tunnel` is set after a 101; any other response is an ordinary one. */
  upgrade(url: URL, request: UpgradeRequest): Promise<Answer>
  /** Aborts everything in progress. */
  close(): void
}

const DEFAULT_LIMITS: BackendLimits = { maxInFlight: 256, maxWaiting: 256 }

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
    const { method, headers, body, headTimeoutMs, connectTimeoutMs, idleTimeoutMs, signal = null } = request
    const target = request.target ?? url.pathname + url.search
    const wire = toWireRequest({ method, target, host, headers, body, upgrade })
    if (typeof signal === 'function') signals.onRequest()
    else if (signal?.aborted) throw new OutboundError('aborted', `The request to ${host} was given up`)
    const pool = upgrade === null ? origin : `${origin} ${upgrade}`
    const backend = shared.backends.get(pool) ?? createBackend(shared, url, pool)
    const { label } = backend
    const limits = { headTimeoutMs, connectTimeoutMs, idleTimeoutMs }
    return backend.request({ label, request: wire, upgrade, signal, ...limits }).answer
  }

  /** Not an async function, because every response would then wait for one more promise. */
  const send = (url: URL, request: OutboundRequest, upgrade: string | null): Promise<Answer> => {
    try {
      return start(url, request, upgrade)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return {
    checkTarget: (url, options) => checkTarget(shared, url, options),
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
  /** Loaded for the first connection, so that it does not delay the start. */
  ca: () => readonly string[] | null
  rules: AddressRules
  resolver: CachingResolver
  idle: IdleConnections
  knownHeads: KnownHeads
  backends: Map<string, Backend>
}

async function checkTarget(
  { rules, resolver }: Shared,
  url: URL,
  { mayBePlainIfNamed = false }: TargetOptions = {},
): Promise<void> {
  const isPlain = url.protocol === 'http:'
  if (url.protocol !== 'https:' && !(isPlain && mayBePlainIfNamed)) throw notHttps()
  if (url.username !== '' || url.password !== '')
    throw notAllowed('The target must not carry a user name. Add an Authorization header instead.')
  const { name, port } = placeOf(url)
  const addresses = isLiteral(name) ? [name] : await resolver.resolve(name).catch(() => [])
  if (isForbidden(rules, name, port) || rules.allowedOf(name, port, addresses) === null)
    throw notAllowed(
      `${url.host} is not a public address. The operator can name it in PROXY_ALLOWED_TARGETS.`,
    )
  if (isPlain && !rules.isNamedTarget(name, port, addresses)) throw notHttps()
}

const notHttps = () =>
  new AppError('invalid', 'The target must start with https://', { code: 'PROXY_TARGET_NOT_HTTPS' })

const notAllowed = (message: string) => new AppError('invalid', message, { code: 'PROXY_TARGET_NOT_ALLOWED' })

type UrlParts = { href: string; protocol: string; host: string; origin: string }

const knownParts = new WeakMap<URL, UrlParts>()

/** A rule passes the same URL for each of its requests, and each read of a part of a URL creates a new string. */
function partsOf(url: URL): UrlParts {
  const known = knownParts.get(url)
  if (known !== undefined && known.href === url.href) return known
  const { href, protocol, host, origin } = url
  const parts = { href, protocol, host, origin }
  knownParts.set(url, parts)
  return parts
}

/** WebSockets are long-lived and have a limit of their own, so that they do not take the turns of requests. */
const WEBSOCKETS_PER_REQUEST = 16

function createBackend(shared: Shared, url: URL, pool: string): Backend {
  const { name, port } = placeOf(url)
  const { maxInFlight, maxWaiting } = shared.limits
  const isOfRequests = pool === url.origin
  const label = `${url.hostname}:${port}`
  const backend = new Backend({
    label,
    limits: {
      maxInFlight: isOfRequests ? maxInFlight : maxInFlight * WEBSOCKETS_PER_REQUEST,
      maxWaiting,
    },
    idle: shared.idle,
    knownHeads: shared.knownHeads,
    onEmpty: () => shared.backends.delete(pool),
    target: { port, label, ca: shared.ca(), serverName: url.protocol === 'https:' ? name : null },
    ...checkedAddresses(shared, name, port),
  })
  shared.backends.set(pool, backend)
  return backend
}

/** Checks every result of the resolver before use; the same result only once. */
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
  new OutboundError('blocked', `${name} leads to an address that is neither public nor an allowed target`)

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
