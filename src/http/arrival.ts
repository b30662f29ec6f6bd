import type { Config } from '../config/config.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { cidrContains, parseIp } from '../domain/ip-ranges.ts'
import { plainPath } from '../domain/plain-path.ts'
import type { SocketOwner } from './wire.ts'

/** The sender of a request. Missing methods are unsupported, as in tests without a socket. */
export type Peer = {
  /** Looked up lazily, because most files are served without it. */
  readonly address: string
  /** The host shown in the visitor's browser if `Host` differs: `svc dev` replaces it with the site's host. */
  readonly shownHost?: string | undefined
  /** What the machine that passed the request on says of its sender: then no header of the request says it. */
  readonly sender?: Sender | undefined
  /** The machine of the workspace that asks for itself. */
  readonly machine?: { name: string } | undefined
  /** Allows the connection to be silent for as long as a backend may be, until this is revoked. */
  allowSilence?(isAllowed: boolean): void
  /** Upgrades the connection to a WebSocket; false if it is gone. */
  upgrade?(headers: Headers, owner: SocketOwner): boolean
}

/** The visitor of another machine of the workspace. `hostHeader` is as `Arrival` has it there. contract 18 §6. */
export type Sender = { address: string; isSecure: boolean; hostHeader: string }

/**
 * A request as it came to the door, which is where this is made; everything behind gets it handed on. What it says is
 * worked out once, when it is first needed: a known file needs none of it.
 */
export class Arrival {
  readonly request: Request
  readonly peer: Peer
  /** What stands before `path` in the address: `''`, or the beginning of a path form. */
  readonly mount: string
  /** Neither the request log nor the analytics hear of it. */
  isUnlogged = false
  readonly #config: Trusting
  #target: Target | undefined
  #plain: string | undefined
  #hostHeader: string | undefined
  #address: string | undefined
  #isBehindProxy: boolean | undefined

  constructor(config: Trusting, request: Request, peer: Peer, mount = '') {
    this.request = request
    this.peer = peer
    this.mount = mount
    this.#config = config
  }

  get method(): string {
    return this.request.method
  }

  /** The raw path, for those who get it as sent. Starts with its slash; behind a mount it may be empty. */
  get path(): string {
    this.#target ??= splitUrl(this.request.url, this.mount.length)
    return this.#target.path
  }

  /** The query, starting with its question mark, as sent; or empty. */
  get search(): string {
    this.#target ??= splitUrl(this.request.url, this.mount.length)
    return this.#target.search
  }

  /** The plain form of `path`, which decides what answers. */
  get plain(): string {
    this.#plain ??= plainPath(this.path)
    return this.#plain
  }

  /** The host that the visitor named: from a trusted proxy's header, else from `Host`. */
  get hostHeader(): string {
    this.#hostHeader ??= this.peer.sender?.hostHeader ?? visitedHost(this)
    return this.#hostHeader
  }

  /** The same in lower case, without port; null if it is no host. */
  get host(): string | null {
    return normalizeHost(this.hostHeader)
  }

  /** Whether the peer is one of our proxies, whose headers about the visitor are trusted. `TRUST_PROXY`. */
  get isBehindProxy(): boolean {
    const config = this.#config
    this.#isBehindProxy ??=
      config.trustProxy.length > 0 && this.peer.sender === undefined && isTrusted(config, this.peer.address)
    return this.#isBehindProxy
  }

  /** The visitor's address. contract §2. */
  get address(): string {
    this.#address ??= this.peer.sender?.address ?? clientAddress(this.#config, this)
    return this.#address
  }

  /** Whether the visitor's connection is encrypted. */
  get isSecure(): boolean {
    return this.peer.sender?.isSecure ?? isSecure(this)
  }

  /** The path on this host, and the query. */
  get target(): string {
    return `${this.mount}${this.path}${this.search}`
  }

  /** The same request as the site behind `mount` gets it. */
  below(mount: string, peer: Peer): Arrival {
    return new Arrival(this.#config, this.request, peer, mount)
  }
}

/** Scheme and host as the visitor's browser shows them. */
export const originOf = ({ peer, hostHeader, isSecure: isEncrypted }: Arrival): string =>
  `${isEncrypted ? 'https' : 'http'}://${(peer.shownHost ?? hostHeader).toLowerCase()}`

type Trusting = Pick<Config, 'trustProxy'>
type Target = { path: string; search: string }

/**
 * Splits off the path behind its first `skipped` characters, and the query. Bun passes on a `#` sent by a client,
 * although a request target cannot contain one: it and what follows are ignored.
 */
function splitUrl(whole: string, skipped: number): Target {
  const hash = whole.indexOf('#')
  const url = hash === -1 ? whole : whole.slice(0, hash)
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return { path: '/', search: '' }
  const query = url.indexOf('?', start)
  return query === -1
    ? { path: url.slice(start + skipped), search: '' }
    : { path: url.slice(start + skipped, query), search: url.slice(query) }
}

function visitedHost(arrival: Arrival): string {
  const { headers } = arrival.request
  const host = headers.get('host') ?? ''
  if (!arrival.isBehindProxy) return host
  return headers.get('x-forwarded-host')?.split(',')[0]?.trim() || host
}

function isSecure({ request, isBehindProxy }: Arrival): boolean {
  const forwarded = isBehindProxy ? request.headers.get('x-forwarded-proto') : null
  const scheme = forwarded?.split(',')[0]?.trim().toLowerCase()
  return scheme === undefined ? request.url.startsWith('https:') : scheme === 'https'
}

/**
 * The right-most address in `X-Forwarded-For` that is not one of our proxies, if the peer is one. What precedes a hop that
 * is not an address (`unknown`) comes from the visitor and is not trusted.
 */
function clientAddress(config: Trusting, { request, peer, isBehindProxy }: Arrival): string {
  if (!isBehindProxy) return peer.address
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').filter((hop) => hop.trim() !== '')
  const client = hops.map(addressOfHop).findLast((hop) => hop === null || !isTrusted(config, hop))
  return client ?? peer.address
}

/** Some proxies add a port or brackets to the address: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
function addressOfHop(hop: string): string | null {
  const bare = hop.trim()
  const [, inBrackets, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(bare) ?? []
  const address = inBrackets ?? dotted ?? bare
  return parseIp(address) === null ? null : address
}

function isTrusted({ trustProxy }: Trusting, address: string): boolean {
  const ip = parseIp(address)
  return ip !== null && trustProxy.some((range) => cidrContains(range, ip))
}
