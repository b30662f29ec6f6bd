import type { Context } from '../context.ts'
import { httpDate } from '../domain/http-date.ts'
import { plainPath } from '../domain/plain-path.ts'
import { clientAddress, type Peer, splitUrl, visitedHost } from '../http/visitor.ts'
import { isFileOnly } from '../site/file-only.ts'
import { serveKnownUrl } from '../site/known-urls.ts'
import type { SitePages } from '../site/pages.ts'
import { resolveHost } from '../site/resolve-site.ts'
import { isOurs, isPlainRead, serveAsset } from '../site/serve-asset.ts'
import { logRequest, observe } from './observe.ts'

type Answering = (request: Request, peer: Peer) => Response | Promise<Response>

/**
 * Delegates to `route`, which is loaded on first use. Until then files of open sites are served here, so that a server
 * that only serves files starts quickly and stays small. The log sees every response.
 */
export function createFrontDoor(ctx: Context, loadRoute: () => Promise<Answering>): Answering {
  let route: Answering | undefined
  const answer: Answering = (request, peer) => {
    if (route !== undefined) return route(request, peer)
    const file = serveOpenFile(ctx, request, peer)
    if (file !== undefined) return file
    return loadRoute().then((loaded) => {
      route = loaded
      return loaded(request, peer)
    })
  }
  const { requestLog } = ctx
  const seen = (request: Request, peer: Peer, response: Response, startedAt: number): Response => {
    const weight = requestLog.weigh(response.status, startedAt)
    if (weight === 0 && !ctx.log.isInfo) return response
    const { path } = splitUrl(request.url)
    const address = clientAddress(ctx, request, peer)
    const hostHeader = visitedHost(ctx, request, peer)
    if (weight > 0) observe(ctx, request, response, { startedAt, hostHeader, path, address, weight })
    if (ctx.log.isInfo) logRequest(ctx, request, response, { path, startedAt, address })
    return response
  }
  return (request, peer) => {
    const startedAt = performance.now()
    const file = serveKnownUrl(ctx, request)
    if (file !== undefined) return seen(request, peer, file, startedAt)
    const answered = answer(request, peer)
    if (answered instanceof Response) return seen(request, peer, dated(ctx, request, answered), startedAt)
    return answered.then((response) => seen(request, peer, dated(ctx, request, response), startedAt))
  }
}

/** The runtime dates all responses except those to HEAD. RFC 9110 §6.6.1. */
function dated(ctx: Context, { method }: Request, response: Response): Response {
  if (method === 'HEAD' && !response.headers.has('date')) response.headers.set('date', httpDate(ctx.now()))
  return response
}

/**
 * Serves a file of an open site, which needs nothing else; undefined for any other request. An error here is reported
 * by `route`, which handles the same request next.
 */
function serveOpenFile(ctx: Context, request: Request, peer: Peer): Response | undefined {
  try {
    if (!isPlainRead(request)) return undefined
    const place = resolveHost(ctx, visitedHost(ctx, request, peer))
    if (place?.kind !== 'site') return undefined
    const { path, search } = splitUrl(request.url)
    const plain = plainPath(path)
    if (isOurs(plain) || !isFileOnly(place, request.method, plain)) return undefined
    const answer = serveAsset(ctx, NO_PAGES, place, { request, path, plain, search, mount: '' })
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
