import type { Context } from '../context.ts'
import { cidrContains, parseIp } from '../domain/ip-ranges.ts'
import type { SocketOwner } from './wire.ts'

/**
 * The sender of a request. The address is looked up lazily, because most files are served without it. Missing methods
 * are unsupported, as in tests without a socket.
 */
export type Peer = {
  readonly address: string
  /** The host shown in the visitor's browser if `Host` differs: `svc dev` replaces it with the site's host. */
  readonly shownHost?: string
  /** Allows the connection to be silent for as long as a backend may be, until this is revoked. */
  allowSilence?(isAllowed: boolean): void
  /** Upgrades the connection to a WebSocket; false if it is gone. */
  upgrade?(headers: Headers, owner: SocketOwner): boolean
}

/**
 * Splits off the path, starting with its slash, and the query, starting with its question mark, as sent. Bun passes on a
 * `#` sent by a client, although a request target cannot contain one: it and what follows are ignored.
 */
export function splitUrl(whole: string): { path: string; search: string } {
  const hash = whole.indexOf('#')
  const url = hash === -1 ? whole : whole.slice(0, hash)
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return { path: '/', search: '' }
  const query = url.indexOf('?', start)
  return query === -1
    ? { path: url.slice(start), search: '' }
    : { path: url.slice(start, query), search: url.slice(query) }
}

/** The host that the visitor named: from a trusted proxy's header, else from `Host`. */
export function visitedHost(ctx: Context, request: Request, peer: Peer): string {
  const host = request.headers.get('host') ?? ''
  if (ctx.config.trustProxy.length === 0 || !isTrusted(ctx, peer.address)) return host
  return request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() || host
}

/**
 * The right-most address in `X-Forwarded-For` that is not one of our proxies, if the peer is one. contract §2. What
 * precedes a hop that is not an address (`unknown`) comes from the visitor and is not trusted.
 */
export function clientAddress(ctx: Context, request: Request, peer: Peer): string {
  if (!isTrusted(ctx, peer.address)) return peer.address
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').filter((hop) => hop.trim() !== '')
  const client = hops.map(addressOfHop).findLast((hop) => hop === null || !isTrusted(ctx, hop))
  return client ?? peer.address
}

/** Some proxies add a port or brackets to the address: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
function addressOfHop(hop: string): string | null {
  const bare = hop.trim()
  const [, inBrackets, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(bare) ?? []
  const address = inBrackets ?? dotted ?? bare
  return parseIp(address) === null ? null : address
}

/** Whether the address is one of our proxies, whose headers about the visitor are trusted. `TRUST_PROXY`. */
export function isTrusted(ctx: Context, address: string): boolean {
  if (ctx.config.trustProxy.length === 0) return false
  const ip = parseIp(address)
  return ip !== null && ctx.config.trustProxy.some((range) => cidrContains(range, ip))
}
