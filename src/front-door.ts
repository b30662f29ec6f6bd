import type { Context, RequestFacts } from './context.ts'
import { hasSessionCookie } from './domain/cookies.ts'
import { normalizeHost } from './domain/hostname.ts'
import { cidrContains, parseIp } from './domain/ip-ranges.ts'
import { note, notedOf } from './http/request-facts.ts'
import { refuseCrossOrigin } from './http/same-origin.ts'
import type { SocketOwner } from './http/wire.ts'
import { callerOf } from './modules/auth/caller.ts'
import { loggedPath, observe } from './observe.ts'
import { maySeeStill } from './site/gate.ts'
import type { SitePages } from './site/pages.ts'
import { servePathForm } from './site/path-forms.ts'
import { chooseWay, isFileOnly, isFileOnlyOnceSeen } from './site/plan-visit.ts'
import { resolveHost, type Site } from './site/resolve-site.ts'
import { serveMapped } from './site/serve-mapped.ts'
import { serveAsset, serveSite } from './site/serve-site.ts'

/** What answers behind the front door, beside files. */
export type Rooms = {
  /** The REST API and, on the admin host, the pages. */
  admin(request: Request): Promise<Response>
  /** A path that is a route of the API (not of the pages), whatever the method. */
  isApiRoute(path: string): boolean
  /** A file of the pages, on whatever host: unknown ones show a page too. */
  asset(path: string): Response | undefined
  /** What was thrown, as an answer: a page for people, the error body for the API and for programs. */
  failure(request: Request, path: string, error: unknown): Response
  pages: SitePages & { noSite(host: string): Response }
}

/**
 * Who sent it. The address is looked up when it is read: most files are served without it. What is not there cannot be
 * done, as in tests without a socket.
 */
export type Peer = {
  readonly address: string
  /** Lets the connection be silent for as long as a backend may be, until it is taken back. */
  allowSilence?(isAllowed: boolean): void
  /** Takes the connection over as a WebSocket; false when it is gone. */
  upgrade?(headers: Headers, owner: SocketOwner): boolean
}

/**
 * Decides by the host who answers, and adds what every answer carries. contract §1 Hosts. The rooms are loaded when they
 * are first needed: a server that only shows files starts at once and stays small.
 */
export function createFrontDoor(
  ctx: Context,
  loadRooms: () => Promise<Rooms>,
): (request: Request, peer: Peer) => Response | Promise<Response> {
  let rooms: Rooms | undefined
  const answer = (request: Request, peer: Peer): Response | Promise<Response> => {
    if (rooms !== undefined) return route(ctx, rooms, request, peer)
    const file = serveOpenFile(ctx, request, peer)
    if (file !== undefined) return file
    return loadRooms().then((loaded) => {
      rooms = loaded
      return route(ctx, loaded, request, peer)
    })
  }
  const { requestLog } = ctx
  const seen = (request: Request, peer: Peer, response: Response, startedAt: number): Response => {
    const weight = requestLog.weigh(response.status, startedAt)
    if (weight > 0) described(ctx, request, peer, response, startedAt, weight)
    if (ctx.log.isInfo) logged(ctx, request, peer, response, startedAt)
    return response
  }
  return (request, peer) => {
    const startedAt = performance.now()
    const answered = answer(request, peer)
    if (answered instanceof Response) return seen(request, peer, answered, startedAt)
    return answered.then((response) => seen(request, peer, response, startedAt))
  }
}

/** A file of an open site, for which nothing else is needed; undefined for any other request. */
function serveOpenFile(ctx: Context, request: Request, peer: Peer): Response | Promise<Response> | undefined {
  const place = resolveHost(ctx, visitedHost(ctx, request, peer))
  if (place?.kind !== 'site' || !isPlainRead(request)) return undefined
  const { path, search } = splitUrl(request.url)
  if (isOurs(path) || !isFileOnly(place, request.method, path)) return undefined
  const answer = serveSite(ctx, NO_PAGES, place, { request, path, search, mount: '' }, unneeded)
  return answer === NEEDS_PAGE ? undefined : answer
}

/** Stands for "this needs a page of ours" while the pages are not loaded. */
const NEEDS_PAGE = new Response()
const NO_PAGES: SitePages = {
  notFound: () => NEEDS_PAGE,
  hidden: () => NEEDS_PAGE,
  forbidden: () => NEEDS_PAGE,
}

const isPlainRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'
const isOurs = (path: string): boolean => path.startsWith('/_svc/') || path.startsWith('/api/')

function route(ctx: Context, rooms: Rooms, request: Request, peer: Peer): Response | Promise<Response> {
  try {
    const hostHeader = visitedHost(ctx, request, peer)
    const place = resolveHost(ctx, hostHeader)
    if (place === undefined)
      return (
        rooms.asset(splitUrl(request.url).path) ??
        rooms.pages.noSite(normalizeHost(hostHeader) ?? 'this address')
      )
    if (place.kind === 'site') return serveHosted(ctx, rooms, request, peer, hostHeader, place)
    return place.kind === 'admin'
      ? serveAdmin(ctx, rooms, request, peer, hostHeader)
      : serveMapped(place, splitUrl(request.url))
  } catch (error) {
    return rooms.failure(request, splitUrl(request.url).path, error)
  }
}

function serveHosted(
  ctx: Context,
  rooms: Rooms,
  request: Request,
  peer: Peer,
  hostHeader: string,
  site: Site,
): Response | Promise<Response> {
  const { path, search } = splitUrl(request.url)
  if (isPlainRead(request) && !isOurs(path)) {
    const asked = { request, path, search, mount: '' }
    if (isFileOnly(site, request.method, path)) return serveSite(ctx, rooms.pages, site, asked, unneeded)
    if (isFileOnlyOnceSeen(site, request.method, path) && maySeeStill(ctx, request, site))
      return serveAsset(ctx, rooms.pages, site, asked)
  }
  const noted = note(request, factsAbout(ctx, request, peer, hostHeader, site))
  refuseForgery(request, noted.facts)
  const way = chooseWay(ctx, site, rooms.isApiRoute, { request, path, facts: noted.facts, peer })
  if (way.to === 'service') return finish(request, rooms.admin(request))
  const asked = { request, path, search, mount: '', visit: way.visit }
  const answer = serveSite(ctx, rooms.pages, way.shown, asked, () => callerOf(ctx, request, 'ignore'))
  return answer instanceof Response ? withCookies(request, answer) : finish(request, answer)
}

/** A public site never asks who looks at it. */
function unneeded(): never {
  throw new Error('The caller of a public page was asked for')
}

function serveAdmin(
  ctx: Context,
  rooms: Rooms,
  request: Request,
  peer: Peer,
  hostHeader: string,
): Response | Promise<Response> {
  const { path, search } = splitUrl(request.url)
  const noted = note(request, factsAbout(ctx, request, peer, hostHeader, null))
  refuseForgery(request, noted.facts)
  const asked = { request, path, search, facts: noted.facts, peer }
  const hosted = servePathForm(ctx, rooms.pages, asked, () => callerOf(ctx, request, 'ignore'))
  if (hosted === undefined) return finish(request, rooms.admin(request))
  return hosted instanceof Response ? withCookies(request, hosted) : finish(request, hosted)
}

function refuseForgery(request: Request, facts: RequestFacts): void {
  if (request.headers.has('x-api-key') || !hasSessionCookie(request.headers.get('cookie'))) return
  refuseCrossOrigin(request, facts.hostWithPort)
}

async function finish(request: Request, answer: Promise<Response>): Promise<Response> {
  return withCookies(request, await answer)
}

/** Cookies that were decided on the way: new tokens for an expired access token, or none after sign-out. */
function withCookies(request: Request, response: Response): Response {
  for (const cookie of notedOf(request).setCookies) response.headers.append('set-cookie', cookie)
  return response
}

/** The path with its slash, and the query with its question mark, as they were sent. */
function splitUrl(url: string): { path: string; search: string } {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start === -1) return { path: '/', search: '' }
  const query = url.indexOf('?', start)
  return query === -1
    ? { path: url.slice(start), search: '' }
    : { path: url.slice(start, query), search: url.slice(query) }
}

/** The host that the visitor named: a trusted proxy's word for it, else the header. */
function visitedHost(ctx: Context, request: Request, peer: Peer): string {
  const host = request.headers.get('host') ?? ''
  if (ctx.config.trustProxy.length === 0 || !isTrusted(ctx, peer.address)) return host
  return request.headers.get('x-forwarded-host')?.split(',')[0]?.trim() || host
}

function factsAbout(
  ctx: Context,
  request: Request,
  peer: Peer,
  hostHeader: string,
  site: Site | null,
): RequestFacts {
  const host = normalizeHost(hostHeader) ?? ''
  const isBehindProxy = isTrusted(ctx, peer.address)
  const forwardedProto = isBehindProxy
    ? request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim()
    : undefined
  const proto = forwardedProto ?? (request.url.startsWith('https:') ? 'https' : 'http')
  return {
    ip: clientAddress(ctx, request, peer),
    isSecure: proto === 'https',
    host,
    hostWithPort: hostHeader.toLowerCase(),
    site: site === null ? null : { projectId: site.project.id, host: site.host },
    peerAddress: peer.address,
    forwardedFor: isBehindProxy ? request.headers.get('x-forwarded-for') : null,
    // Few ask: not worth eight headers a request.
    get isDirectLoopback() {
      return isLoopback(peer.address) && !FORWARDING_HEADERS.some((name) => request.headers.has(name))
    },
  }
}

const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
]

const isLoopback = (address: string): boolean => address === '::1' || /^(::ffff:)?127\./.test(address)

/** The right-most address of `X-Forwarded-For` that is no proxy of ours, when the peer is one. contract §2. */
function clientAddress(ctx: Context, request: Request, peer: Peer): string {
  if (!isTrusted(ctx, peer.address)) return peer.address
  const hops = (request.headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
  return hops.findLast((hop) => parseIp(hop) !== null && !isTrusted(ctx, hop)) ?? peer.address
}

function isTrusted(ctx: Context, address: string): boolean {
  if (ctx.config.trustProxy.length === 0) return false
  const ip = parseIp(address.replace(/^::ffff:(?=\d+\.)/, ''))
  return ip !== null && ctx.config.trustProxy.some((range) => cidrContains(range, ip))
}

/** For the request log, where not too many came at once. */
function described(
  ctx: Context,
  request: Request,
  peer: Peer,
  response: Response,
  startedAt: number,
  weight: number,
): void {
  observe(ctx, request, response, {
    startedAt,
    hostHeader: visitedHost(ctx, request, peer),
    path: splitUrl(request.url).path,
    address: clientAddress(ctx, request, peer),
    weight,
  })
}

/** One line a request: no query, which may hold a token, and no header. */
function logged(ctx: Context, request: Request, peer: Peer, response: Response, startedAt: number): void {
  ctx.log.info('request', {
    method: request.method,
    host: request.headers.get('host'),
    path: loggedPath(splitUrl(request.url).path),
    status: response.status,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
    ip: clientAddress(ctx, request, peer),
  })
}
