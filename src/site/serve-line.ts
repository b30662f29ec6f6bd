import type { Context } from '../context.ts'
import { isHtml } from '../domain/content-type.ts'
import { AppError } from '../domain/errors.ts'
import { plainPath } from '../domain/plain-path.ts'
import { isRoutingFile } from '../domain/routing/compile.ts'
import type { TakenLine } from '../domain/routing/first-line.ts'
import { isRedirect } from '../domain/routing/redirects.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { errorResponse } from '../http/error-response.ts'
import { markOf } from './cdn-mark.ts'
import { loadManifest } from './manifest.ts'
import { notFound, type SitePages } from './pages.ts'
import { proxyLine } from './proxy-line.ts'
import { shownAt } from './read-manifest.ts'
import { redirectTo } from './redirect-to.ts'
import { isProxied, type RoutedVisit } from './routed-visit.ts'
import { isAnswered, isPlainRead, onlyReads, serveAsset } from './serve-asset.ts'
import { serveFile } from './serve-file.ts'
import type { Site } from './site.ts'
import type { SiteFile } from './site-file.ts'
import { unlisted } from './unlisted.ts'
import type { Visit } from './visit.ts'

/**
 * Serves a request that no 3xx line and no rule takes: forced lines, the file, other lines, and what stands in for a
 * missing file. contract 13 §4, steps 6 to 13.
 */
export function serveByLines(
  ctx: Context,
  pages: SitePages,
  site: Site,
  visit: Visit,
  routes: RoutedVisit,
): Response | Promise<Response> {
  const { arrival } = visit
  const isThere = (taken: TakenLine) => isTargetThere(ctx, site, taken, arrival.plain)
  const line =
    routes.other(true, isThere) ??
    (isAnswered(ctx, site, arrival.plain) ? undefined : routes.other(false, isThere))
  return line === undefined
    ? serveAsset(ctx, pages, site, {
        arrival,
        visit,
        dress: () => routes.dressing(),
        isConditional: routes.isConditional,
      })
    : serveLine(ctx, pages, site, visit, { line, routes })
}

/** Serves the line that takes a request, of whatever status. */
export function serveLine(
  ctx: Context,
  pages: SitePages,
  site: Site,
  visit: Visit,
  { line: taken, routes }: { line: TakenLine; routes: RoutedVisit },
): Response | Promise<Response> {
  const { arrival, trace } = visit
  const { line, result } = taken
  if (isRedirect(line) && result !== null)
    return redirectTo(result, line.status, site, {
      mount: arrival.mount,
      isConditional: routes.isConditional,
    })
  if (isProxied(line) && result !== null) return proxyLine(ctx, site, result, visit)
  if (!isPlainRead(arrival.request)) return onlyReads(arrival.request)
  const file = result === null ? undefined : fileAt(ctx, site, result.path)
  if (file === undefined) return unlisted(ownPage(pages, visit, line.status), site)
  trace?.add('file', `The file ${file.path} is sent`, { path: file.path })
  return serveFile(ctx, arrival.request, file, site, {
    status: line.status,
    dressing: routes.dressing(),
    mark: markOf(site, routes.isConditional),
  })
}

/** The service's own page for something that is not there, or not any more. */
function ownPage(pages: SitePages, { arrival }: Visit, status: number): Response {
  if (status !== 410) return notFound(pages, arrival)
  if (!acceptsHtml(arrival.request))
    return errorResponse(new AppError('gone', 'What was at this address is gone'))
  const page = notFound(pages, arrival)
  return new Response(page.body, { status, headers: page.headers })
}

const IS_SCRIPT = /\.(?:[cm]?js|css|wasm|map)$/i

/** A missing script, or a routing file, is never HTML, so a line for everything does not take it. */
function isTargetThere(ctx: Context, site: Site, { line, result }: TakenLine, plain: string): boolean {
  if (result === null || isProxied(line)) return true
  const file = fileAt(ctx, site, result.path)
  if (file === undefined) return false
  const isForAll = line.status === 200 && !line.force && line.source.star !== null
  return !(isForAll && isHtml(file.path) && (IS_SCRIPT.test(plain) || isRoutingFile(plain)))
}

/** The file at an address of the site, by its clean addresses, too. */
function fileAt(ctx: Context, site: Site, path: string): SiteFile | undefined {
  return shownAt(loadManifest(ctx, site).targets, plainPath(path))
}
