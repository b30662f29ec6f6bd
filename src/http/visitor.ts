import type { Context } from '../context.ts'
import { cidrContains, parseIp } from '../domain/ip-ranges.ts'
import type { SocketOwner } from './wire.ts'

/**
 * Who sent it. The address is looked up when it is read: most files are served without it. What is not there cannot be
 * done, as in tests without a socket.
 */
export type Peer = {
  readonly address: string
  /** The host that stands in the visitor's browser, where `Host` names another: of `svc dev`, which puts the site's there. */
  readonly shownHost?: string
  /** Lets the connection be silent for as long as a backend may be, until it is taken back. */
  allowSilence?(isAllowed: boolean): void
  /** Takes the connection over as a WebSocket; false when it is gone. */
  upgrade?(headers: Headers, owner: SocketOwner): boolean
}

/** The path with its slash, and the query with its question mark, as they were sent. */
export function splitUrl(url: string): { path: string; search: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return { path: '/', search: '' }
  const query = url.indexOf('?', start)
  return query === -1
    ? { path: url.slice(start), search: '' }
    : { path: url.slice(start, query), search: url.slice(query) }
}

/** The host that the visitor named: a trusted proxy's word for it, else the header. */
export function visitedHost(ctx: Context, request: Request, peer: Peer): string {
  const host = request.headers.get('host') ?? ''
  if (ctx.config.trustProxy.length === 0 || !isTrusted(ctx, peer.address)) return host
  return request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() || host
}

/**
 * The right-most address of `X-Forwarded-For` that is no proxy of ours, when the peer is one. contract §2. What stands
 * before a hop that is no address (`unknown`) is the visitor's own word, and is not believed.
 */
export function clientAddress(ctx: Context, request: Request, peer: Peer): string {
  if (!isTrusted(ctx, peer.address)) return peer.address
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').filter((hop) => hop.trim() !== '')
  const client = hops.map(addressOfHop).findLast((hop) => hop === null || !isTrusted(ctx, hop))
  return client ?? peer.address
}

/** Some proxies write a port behind the address, or brackets: `192.0.2.1:4711`, `[2001:db8::1]:4711`, `[2001:db8::1]`. */
function addressOfHop(hop: string): string | null {
  const bare = hop.trim()
  const [, inBrackets, dotted] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(bare) ?? []
  const address = inBrackets ?? dotted ?? bare
  return parseIp(address) === null ? null : address
}

/** A proxy of ours: what it says of the visitor is believed. `TRUST_PROXY`. */
export function isTrusted(ctx: Context, address: string): boolean {
  if (ctx.config.trustProxy.length === 0) return false
  const ip = parseIp(address.replace(/^::ffff:(?=\d+\.)/, ''))
  return ip !== null && ctx.config.trustProxy.some((range) => cidrContains(range, ip))
}
