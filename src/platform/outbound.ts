import { AppError } from '../domain/errors.ts'
import type { HeaderPair } from '../domain/forward-headers.ts'
import { parseIp } from '../domain/ip-ranges.ts'
import type { Answer, Http1Connection } from './http1-connection.ts'
import { type RequestBody, toWireRequest } from './http1-request.ts'
import { type AddressRules, addressRules, bareHostname } from './outbound-addresses.ts'
import { Backend, type BackendLimits, type IdleConnections } from './outbound-backend.ts'
import { trustedCas } from './outbound-ca.ts'
import { OutboundError } from './outbound-error.ts'
import type { IdleTimeout } from './outbound-exchange.ts'
import { type CachingResolver, cachingResolver, type Resolve, systemResolve } from './outbound-resolver.ts'

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
  signal?: AbortSignal | null
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
  headers: HeaderPair[]
  /** Whole when it came in one packet with the head, a stream else; a failing stream is an `OutboundError`. */
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
const MOST_IDLE = 1024

export function createOutbound(options: OutboundOptions): Outbound {
  const { limits = DEFAULT_LIMITS, resolve = systemResolve, now = () => performance.now() } = options
  const shared: Shared = {
    limits,
    ca: trustedCas(options.extraCaPem),
    rules: addressRules(options.allowedTargets),
    resolver: cachingResolver(resolve, now),
    idle: idleConnections(),
    backends: new Map(),
  }

  const start = (url: URL, request: OutboundRequest, upgrade: string | null): Promise<Answer> => {
    if (url.protocol !== 'https:' && !(request.mayBePlain && url.protocol === 'http:'))
      throw new OutboundError('bad_request', 'The target must be an HTTPS URL')
    const { method, headers, body, headTimeoutMs, idleTimeoutMs, signal = null } = request
    const target = request.target ?? url.pathname + url.search
    const wire = toWireRequest({ method, target, host: url.host, headers, body, upgrade })
    if (signal?.aborted) throw new OutboundError('aborted', `The request to ${url.host} was given up`)
    const backend = backendOf(shared, url)
    const { label } = backend
    return backend.request({ label, request: wire, upgrade, headTimeoutMs, idleTimeoutMs, signal }).answer
  }

  /** Not an async function: that would make every answer wait for one more promise. */
  const send = (...args: Parameters<typeof start>): Promise<Answer> => {
    try {
      return start(...args)
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
  ca: readonly string[] | null
  rules: AddressRules
  resolver: CachingResolver
  idle: IdleConnections
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

function backendOf(shared: Shared, url: URL): Backend {
  const key = url.origin
  const found = shared.backends.get(key)
  if (found !== undefined) return found
  const backend = createBackend(shared, url, () => shared.backends.delete(key))
  shared.backends.set(key, backend)
  return backend
}

function createBackend(shared: Shared, url: URL, emptied: () => void): Backend {
  const { name, port } = placeOf(url)
  const label = `${url.hostname}:${port}`
  return new Backend({
    label,
    limits: shared.limits,
    idle: shared.idle,
    emptied,
    target: { port, label, ca: shared.ca, serverName: url.protocol === 'https:' ? name : null },
    ...checkedAddresses(shared, name, port),
  })
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

/** Keeps `MOST_IDLE` connections for all backends together: a set in the order in which they became idle. */
function idleConnections(): IdleConnections {
  const idle = new Set<Http1Connection>()
  return {
    add(connection) {
      idle.add(connection)
      if (idle.size <= MOST_IDLE) return
      const [oldest] = idle
      oldest?.fail(new OutboundError('aborted', 'Too many idle connections'))
    },
    delete: (connection) => void idle.delete(connection),
  }
}
