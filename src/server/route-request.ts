import type { Context, RequestFacts } from '../context.ts'
import { hasSessionCookie } from '../domain/cookies.ts'
import { AppError } from '../domain/errors.ts'
import { isHostField, normalizeHost } from '../domain/hostname.ts'
import { isLoopback } from '../domain/ip-ranges.ts'
import { sentKey } from '../domain/key-header.ts'
import { plainPath } from '../domain/plain-path.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { type RequestState, recordFacts } from '../http/request-facts.ts'
import { refuseCrossOrigin } from '../http/same-origin.ts'
import { clientAddress, isTrusted, type Peer, splitUrl, visitedHost } from '../http/visitor.ts'
import { callerOf } from '../modules/auth/caller.ts'
import { isFileOnly, isFileOnlyOnceSeen } from '../site/file-only.ts'
import { maySeeStill } from '../site/gate-memory.ts'
import type { SitePages } from '../site/pages.ts'
import { servePathForm } from '../site/path-forms.ts'
import { chooseWay } from '../site/plan-visit.ts'
import { resolveHost, type Site } from '../site/resolve-site.ts'
import { isOurs, isPlainRead, serveAsset } from '../site/serve-asset.ts'
import { serveMapped } from '../site/serve-mapped.ts'
import { serveSite } from '../site/serve-site.ts'

/** What answers behind the front door besides files: the API and the pages. */
export type Endpoints = {
  /** The REST API and, on the admin host, the pages. */
  admin(request: Request): Promise<Response>
  /** Whether the path is an API route (not a page), whatever the method. */
  isApiRoute(path: string): boolean
  /** Whether the path is a page that also answers on hosts without a site. */
  isForEveryHost(path: string): boolean
  /** A file of the pages, on any host: unknown hosts also show a page. */
  asset(path: string): Response | undefined
  /** Turns a thrown value into a response: a page for people, the error body for the API and for programs. */
  failure(request: Request, path: string, error: unknown): Response
  pages: SitePages & {
    badHost(): Response
    noSite(host: string | null, request: Request): Response
    unproven(host: string): Response
  }
}

/** Routes every request by its host. contract §1 Hosts. */
export function routeRequest(
  ctx: Context,
  endpoints: Endpoints,
  request: Request,
  peer: Peer,
): Response | Promise<Response> {
  try {
    const hostHeader = visitedHost(ctx, request, peer)
    const place = resolveHost(ctx, hostHeader)
    if (
      place?.kind !== 'site' &&
      place?.kind !== 'admin' &&
      endpoints.isForEveryHost(splitUrl(request.url).path)
    )
      return serveAdmin(ctx, endpoints, { request, peer, hostHeader })
    if (place === undefined) return serveNowhere(endpoints, request, hostHeader)
    if (place.kind === 'site')
      return (
        serveFileAtOnce(ctx, endpoints, request, place) ??
        serveHosted(ctx, endpoints, { request, peer, hostHeader }, place)
      )
    if (place.kind === 'admin') return serveAdmin(ctx, endpoints, { request, peer, hostHeader })
    const answer = serveMapped(place, splitUrl(request.url))
    return place.kind === 'unproven' && answer.status !== 200
      ? serveUnproven(endpoints, request, place.host, answer)
      : answer
  } catch (error) {
    return endpoints.failure(request, splitUrl(request.url).path, error)
  }
}

function serveNowhere({ asset, pages }: Endpoints, request: Request, hostHeader: string): Response {
  if (!isHostField(hostHeader)) return pages.badHost()
  return asset(splitUrl(request.url).path) ?? pages.noSite(normalizeHost(hostHeader), request)
}

/** People get a page and its assets; programs get the error. */
function serveUnproven(endpoints: Endpoints, request: Request, host: string, error: Response): Response {
  const { path } = splitUrl(request.url)
  return endpoints.asset(path) ?? (acceptsHtml(request) ? endpoints.pages.unproven(host) : error)
}

/** The usual case: a file that everybody may see, or that the sender was shown before. Needs no look-ups. */
function serveFileAtOnce(
  ctx: Context,
  endpoints: Endpoints,
  request: Request,
  site: Site,
): Response | undefined {
  const { path, search } = splitUrl(request.url)
  const plain = plainPath(path)
  if (!isPlainRead(request) || isOurs(plain)) return undefined
  const isSeen =
    isFileOnly(site, request.method, plain) ||
    (isFileOnlyOnceSeen(site, request.method, plain) && maySeeStill(ctx, request, site))
  return isSeen
    ? serveAsset(ctx, endpoints.pages, site, { request, path, plain, search, mount: '' })
    : undefined
}

/** An incoming request, with the host that it names. */
type Arrival = { request: Request; peer: Peer; hostHeader: string }

function serveHosted(
  ctx: Context,
  endpoints: Endpoints,
  arrival: Arrival,
  site: Site,
): Response | Promise<Response> {
  const { request, peer } = arrival
  const { path, search } = splitUrl(request.url)
  const state = recordFacts(request, factsAbout(ctx, arrival, site))
  const { facts } = state
  refuseForgery(request, facts)
  const plain = plainPath(path)
  const visitor = { request, path, plain, facts, callerOf: callerBehind(ctx, request), peer }
  const way = chooseWay(ctx, site, endpoints.isApiRoute, visitor)
  if (way.to === 'service')
    return isOurs(path)
      ? finish(state, askService(endpoints, request, path, facts))
      : withCookies(state, endpoints.failure(request, plain, noSuchSpelling()))
  const asked = { request, path, plain, search, mount: '', visit: way.visit }
  const answer = serveSite(ctx, endpoints.pages, way.shown, asked)
  return answer instanceof Response ? withCookies(state, answer) : finish(state, answer)
}

/** The routes of the service have one spelling. The pages of the admin must not see what is none of theirs. */
const noSuchSpelling = () => new AppError('not_found', 'There is nothing at this address')

function serveAdmin(ctx: Context, endpoints: Endpoints, arrival: Arrival): Response | Promise<Response> {
  const { request, peer } = arrival
  const { path, search } = splitUrl(request.url)
  const state = recordFacts(request, factsAbout(ctx, arrival, null))
  const { facts } = state
  refuseForgery(request, facts)
  const asked = { request, path, search, facts, callerOf: callerBehind(ctx, request), peer }
  const hosted = servePathForm(ctx, endpoints.pages, asked)
  if (hosted === undefined) return finish(state, askService(endpoints, request, path, facts))
  return hosted instanceof Response ? withCookies(state, hosted) : finish(state, hosted)
}

/** The API and the pages. A page of another site must not sign anybody in or out, even one without a session. */
function askService(
  endpoints: Endpoints,
  request: Request,
  path: string,
  facts: RequestFacts,
): Promise<Response> {
  if (SESSION_ROUTES.test(path) && sentKey(request.headers) === null)
    refuseCrossOrigin(request, facts.hostWithPort)
  return endpoints.admin(request)
}

/** Routes of the API whose writes make or end a session, set a password or claim the server. contract 12.6: Origin. */
const SESSION_ROUTES = /^\/(?:api\/auth|_svc\/auth|api\/setup|api\/invitations)\//

const callerBehind = (ctx: Context, request: Request) => () => callerOf(ctx, request, 'ignore')

function refuseForgery(request: Request, facts: RequestFacts): void {
  if (!hasSessionCookie(request.headers.get('cookie')) || sentKey(request.headers) !== null) return
  refuseCrossOrigin(request, facts.hostWithPort)
}

async function finish(state: RequestState, answer: Promise<Response>): Promise<Response> {
  try {
    return withCookies(state, await answer)
  } finally {
    await state.share?.end()
  }
}

/** Adds cookies set on the way: new tokens for an expired access token, or none after sign-out. */
function withCookies({ setCookies }: RequestState, response: Response): Response {
  for (const cookie of setCookies) response.headers.append('set-cookie', cookie)
  return response
}

function factsAbout(ctx: Context, { request, peer, hostHeader }: Arrival, site: Site | null): RequestFacts {
  const host = normalizeHost(hostHeader) ?? ''
  const isBehindProxy = isTrusted(ctx, peer.address)
  const forwardedProto = isBehindProxy
    ? request.headers.get('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase()
    : undefined
  const proto = forwardedProto ?? (request.url.startsWith('https:') ? 'https' : 'http')
  return {
    ip: clientAddress(ctx, request, peer),
    isSecure: proto === 'https',
    host,
    hostWithPort: (peer.shownHost ?? hostHeader).toLowerCase(),
    site: site === null ? null : { projectId: site.project.id, host: site.host },
    peerAddress: peer.address,
    isBehindProxy,
    forwardedFor: isBehindProxy ? request.headers.get('x-forwarded-for') : null,
    // Lazy, because few requests need it.
    get isDirectLoopback() {
      return isLoopback(peer.address) && !cameThroughProxy(request.headers)
    },
  }
}

/** Whether a header says that a proxy forwarded the request. contract §1, SETUP_TOKEN. */
const cameThroughProxy = (headers: Headers): boolean =>
  [...headers.keys()].some((name) => FORWARDING_HEADERS.has(name) || name.startsWith('x-forwarded'))

const FORWARDING_HEADERS = new Set(['forwarded', 'via', 'x-real-ip'])
