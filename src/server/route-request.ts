import type { Context } from '../context.ts'
import { hasSessionCookie } from '../domain/cookies.ts'
import { AppError } from '../domain/errors.ts'
import { isHostField } from '../domain/hostname.ts'
import { sentKey } from '../domain/key-header.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import type { Arrival } from '../http/arrival.ts'
import { factsAbout, type RequestState, recordFacts } from '../http/request-facts.ts'
import { refuseCrossOrigin } from '../http/same-origin.ts'
import { callerOf } from '../modules/auth/caller.ts'
import { ContentMiss, withContents } from '../platform/blob-store.ts'
import { keepFromCdn } from '../site/cdn-mark.ts'
import { serveFileAddress } from '../site/file-addresses.ts'
import type { SitePages } from '../site/pages.ts'
import { servePathForm } from '../site/path-forms.ts'
import { servePicture } from '../site/picture/serve-picture.ts'
import { chooseWay } from '../site/plan-visit.ts'
import { resolveHost } from '../site/resolve-site.ts'
import { isOurs } from '../site/serve-asset.ts'
import { serveFileAtOnce } from '../site/serve-file-at-once.ts'
import { serveMapped } from '../site/serve-mapped.ts'
import { serveSite } from '../site/serve-site.ts'
import type { Site } from '../site/site.ts'
import type { Visitor } from '../site/visit.ts'

/** What answers behind the front door besides files: the API and the pages. */
export type Endpoints = {
  /** The REST API and, on the admin host, the pages. */
  admin(arrival: Arrival): Promise<Response>
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
    noSite(host: string | null, arrival: Arrival): Response
    unproven(host: string): Response
  }
}

/** Routes every request by its host. contract §1 Hosts. */
export function routeRequest(
  ctx: Context,
  endpoints: Endpoints,
  arrival: Arrival,
): Response | Promise<Response> {
  const { request, path, hostHeader } = arrival
  try {
    const place = resolveHost(ctx, hostHeader)
    if (place?.kind === 'site')
      return (
        serveFileAtOnce(ctx, endpoints.pages, place, arrival) ?? serveHosted(ctx, endpoints, arrival, place)
      )
    if (place?.kind === 'admin' || endpoints.isForEveryHost(path)) return serveAdmin(ctx, endpoints, arrival)
    return place === undefined ? serveNowhere(endpoints, arrival) : servePlace(endpoints, arrival, place)
  } catch (error) {
    if (error instanceof ContentMiss) return serveFetched(ctx, endpoints, arrival)
    return endpoints.failure(request, path, error)
  }
}

/** A file that must be fetched first, at once for everybody who may see it. */
async function serveFetched(ctx: Context, endpoints: Endpoints, arrival: Arrival): Promise<Response> {
  try {
    const place = resolveHost(ctx, arrival.hostHeader)
    if (place?.kind !== 'site') return serveNowhere(endpoints, arrival)
    const file = await withContents(ctx, () => serveFileAtOnce(ctx, endpoints.pages, place, arrival))
    return file ?? (await serveHosted(ctx, endpoints, arrival, place))
  } catch (error) {
    return endpoints.failure(arrival.request, arrival.path, error)
  }
}

/** A host that is mapped and shows no site. */
export function servePlace(
  endpoints: Endpoints,
  arrival: Arrival,
  place: Parameters<typeof serveMapped>[0],
): Response {
  const answer = serveMapped(place, arrival)
  return place.kind === 'unproven' && answer.status !== 200
    ? serveUnproven(endpoints, arrival, place.host, answer)
    : answer
}

/** A host that means nothing here. */
export function serveNowhere({ asset, pages }: Endpoints, arrival: Arrival): Response {
  if (!isHostField(arrival.hostHeader)) return pages.badHost()
  return asset(arrival.path) ?? pages.noSite(arrival.host, arrival)
}

/** People get a page and its assets; programs get the error. */
function serveUnproven(
  { asset, pages }: Endpoints,
  { request, path }: Arrival,
  host: string,
  error: Response,
): Response {
  return asset(path) ?? (acceptsHtml(request) ? pages.unproven(host) : error)
}

function serveHosted(
  ctx: Context,
  endpoints: Endpoints,
  arrival: Arrival,
  site: Site,
): Response | Promise<Response> {
  const { request, path, plain } = arrival
  const file = serveFileAddress(ctx, arrival, site.project.id)
  if (file !== undefined) return file
  const { state, visitor } = admit(ctx, arrival, site)
  const way = chooseWay(ctx, site, endpoints.isApiRoute, visitor)
  if (way.to === 'service')
    return isOurs(path)
      ? finish(state, askService(endpoints, visitor))
      : withCookies(state, endpoints.failure(request, plain, noSuchSpelling()))
  const answer = serveSite(ctx, endpoints.pages, way.shown, way.visit)
  if (answer instanceof Response) return withCookies(state, answer)
  return finish(
    state,
    answer.catch((error) => endpoints.failure(request, path, error)),
  )
}

/** The routes of the service have one spelling. The pages of the admin must not see what is none of theirs. */
const noSuchSpelling = () => new AppError('not_found', 'There is nothing at this address')

function serveAdmin(ctx: Context, endpoints: Endpoints, arrival: Arrival): Response | Promise<Response> {
  const byTicket = servePicture(ctx, arrival) ?? serveFileAddress(ctx, arrival, null)
  if (byTicket !== undefined) return byTicket
  const { state, visitor } = admit(ctx, arrival, null)
  const hosted = servePathForm(ctx, endpoints.pages, visitor)
  if (hosted === undefined) return finish(state, askService(endpoints, visitor))
  if (hosted instanceof Response) return withCookies(state, hosted)
  return finish(
    state,
    hosted.catch((error) => endpoints.failure(arrival.request, arrival.path, error)),
  )
}

/** Records what is known about a request, for everything behind. Throws if a page of another origin forged it. */
function admit(ctx: Context, arrival: Arrival, site: Site | null): { state: RequestState; visitor: Visitor } {
  const { request } = arrival
  const place = site === null ? null : { projectId: site.project.id, host: site.host }
  const state = recordFacts(arrival, factsAbout(arrival, place))
  const { facts } = state
  if (hasSessionCookie(request.headers.get('cookie')) && sentKey(request.headers) === null)
    refuseCrossOrigin(request, facts.hostWithPort)
  return { state, visitor: { arrival, facts, callerOf: () => callerOf(ctx, request, 'ignore') } }
}

/** The API and the pages. A page of another site must not sign anybody in or out, even one without a session. */
function askService(endpoints: Endpoints, { arrival, facts }: Visitor): Promise<Response> {
  const { request, path } = arrival
  if (SESSION_ROUTES.test(path) && sentKey(request.headers) === null)
    refuseCrossOrigin(request, facts.hostWithPort)
  return endpoints.admin(arrival)
}

/** Routes of the API whose writes make or end a session, set a password or claim the server. contract 12.6: Origin. */
const SESSION_ROUTES = /^\/(?:api\/auth|_svc\/auth|api\/setup|api\/invitations)\//

async function finish(state: RequestState, answer: Promise<Response>): Promise<Response> {
  try {
    return withCookies(state, await answer)
  } finally {
    await state.share?.end()
  }
}

/** Adds cookies set on the way: new tokens for an expired access token, or none after sign-out. */
function withCookies({ setCookies }: RequestState, response: Response): Response {
  if (setCookies.length > 0 && response.headers.has('cdn-cache-control')) keepFromCdn(response.headers)
  for (const cookie of setCookies) response.headers.append('set-cookie', cookie)
  return response
}
