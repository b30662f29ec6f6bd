import type { Context } from '../context.ts'
import { httpDate } from '../domain/http-date.ts'
import { Arrival, type Peer } from '../http/arrival.ts'
import { keepFromCdn } from '../site/cdn-mark.ts'
import { serveKnownUrl } from '../site/known-urls.ts'
import type { SitePages } from '../site/pages.ts'
import { resolveHost } from '../site/resolve-site.ts'
import { serveFileAtOnce } from '../site/serve-file-at-once.ts'
import type { Site } from '../site/site.ts'
import { logRequest, observe } from './observe.ts'

export type Answering = (arrival: Arrival) => Response | Promise<Response>

/**
 * Delegates to `route`, which is loaded on first use. Until then files of open sites are served here, so that a server
 * that only serves files starts quickly and stays small. The log sees every response. `around` surrounds all that is not a
 * file known before.
 */
export function createFrontDoor(
  ctx: Context,
  loadRoute: () => Promise<Answering>,
  around: (answer: Answering) => Answering = (answer) => answer,
): (request: Request, peer: Peer) => Response | Promise<Response> {
  let route: Answering | undefined
  const answer = around((arrival) => {
    if (route !== undefined) return route(arrival)
    const file = serveOpenFile(ctx, arrival)
    if (file !== undefined) return file
    return loadRoute().then((loaded) => {
      route = loaded
      return loaded(arrival)
    })
  })
  const seen = seenIn(ctx)
  return (request, peer) => {
    const startedAt = performance.now()
    const arrival = new Arrival(ctx.config, request, peer)
    const file = serveKnownUrl(ctx, request)
    if (file !== undefined) return seen(arrival, file, startedAt)
    const answered = answer(arrival)
    if (answered instanceof Response)
      return seen(arrival, told(ctx, arrival, dated(ctx, request, answered)), startedAt)
    return answered.then((response) => {
      if (response.status === 507) void lookAtDisk(ctx)
      return seen(arrival, told(ctx, arrival, dated(ctx, request, response)), startedAt)
    })
  }
}

/** Counts and logs an answer, and returns it. */
export function seenIn(ctx: Context): (arrival: Arrival, response: Response, startedAt: number) => Response {
  const { requestLog } = ctx
  return (arrival, response, startedAt) => {
    if (arrival.isUnlogged) return response
    const weight = requestLog.weigh(response.status, startedAt)
    if (weight > 0) observe(ctx, arrival, response, { startedAt, weight })
    if (ctx.log.isInfo) logRequest(ctx, arrival, response, { startedAt, address: arrival.address })
    return response
  }
}

/** Somebody found no room for what they sent. */
async function lookAtDisk(ctx: Context): Promise<void> {
  const { lookAtDiskSoon } = await import('../modules/storage/low-disk.ts')
  lookAtDiskSoon(ctx)
}

/** Behind a CDN everything but the admin says whether it may be kept; what has said so, or a backend, stands. */
export function told(ctx: Context, { hostHeader }: Arrival, response: Response): Response {
  if (ctx.config.cdnKind === null) return response
  const { headers } = response
  const isTold = headers.has('cdn-cache-control') || headers.has('surrogate-control')
  if (!isTold && resolveHost(ctx, hostHeader)?.kind !== 'admin') keepFromCdn(headers)
  return response
}

/** The runtime dates all responses except those to HEAD. RFC 9110 §6.6.1. */
export function dated(ctx: Context, { method }: Request, response: Response): Response {
  if (method === 'HEAD' && !response.headers.has('date')) response.headers.set('date', httpDate(ctx.now()))
  return response
}

/**
 * Serves a file of an open site, which needs nothing else; undefined for any other request. An error here is reported
 * by `route`, which handles the same request next.
 */
export function serveOpenFile(
  ctx: Context,
  arrival: Arrival,
  isMeant: (site: Site) => boolean = () => true,
): Response | undefined {
  try {
    const place = resolveHost(ctx, arrival.hostHeader)
    const answer =
      place?.kind === 'site' && isMeant(place) ? serveFileAtOnce(ctx, NO_PAGES, place, arrival) : undefined
    return answer === NEEDS_PAGE ? undefined : answer
  } catch {
    return undefined
  }
}

/** A placeholder for "this needs one of our pages" while the pages are not loaded. */
const NEEDS_PAGE = new Response()
const NO_PAGES: SitePages = {
  notFound: () => NEEDS_PAGE,
  hidden: () => NEEDS_PAGE,
  forbidden: () => NEEDS_PAGE,
}
