import type { Context } from '../context.ts'
import { encodePath, MAX_PATH_BYTES } from '../domain/asset-path.ts'
import { mayBeOfEarlier } from '../domain/content-hash.ts'
import { mimeTypeOf } from '../domain/content-type.ts'
import { WEEK_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import { errorResponse } from '../http/error-response.ts'
import { decideAppPage } from './app-page.ts'
import { knowUrl } from './known-urls.ts'
import { loadManifest, type Manifest, manifestKey, type SiteFile, type Target } from './manifest.ts'
import { notFound, plainNotFound, type SitePages } from './pages.ts'
import { listEarlierDeployments } from './queries.ts'
import type { Site } from './resolve-site.ts'
import { serveFile } from './serve-file.ts'
import type { SiteRequest } from './serve-site.ts'
import type { Trace } from './trace.ts'

const KEEP_EARLIER_MS = WEEK_MS

/** Serves the file to visitors who may see the site. */
export function serveAsset(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: SiteRequest,
  isRewrite = false,
): Response {
  const { request } = asked
  if (!isPlainRead(request))
    return errorResponse(
      new AppError('method_not_allowed', `Files support GET and HEAD, not ${request.method}`, {
        headers: { allow: 'GET, HEAD' },
      }),
    )
  const { targets } = loadManifest(ctx, site)
  const found = targets.get(asked.plain)
  const target =
    isRewrite && found !== undefined && 'redirectTo' in found ? targets.get(found.redirectTo) : found
  if (target === undefined) return serveMissing(ctx, pages, site, targets, asked)
  traceFile(asked.visit?.trace, asked.plain, target)
  if ('redirectTo' in target)
    return redirect(`${asked.mount}${encodePath(target.redirectTo)}${asked.search}`, site)
  if (asked.visit === undefined) knowUrl(ctx, request, site, target)
  return serveFile(ctx, request, target, site)
}

function traceFile(trace: Trace | undefined, path: string, target: Target): void {
  if ('redirectTo' in target) trace?.add('file', `${path} is a folder: it redirects to ${target.redirectTo}`)
  else trace?.add('file', `The file ${target.path} is sent`, { path: target.path })
}

/** Also says what is sent instead: a 200 for a missing file would be confusing. */
const traceMissing = ({ plain, visit }: SiteRequest, instead: string): void =>
  visit?.trace?.add('file', `There is no file for ${plain}${instead}`, { path: null })

/**
 * Serves an earlier deployment's hashed file, the page of a single-page app, the nearest 404.html, or our own page.
 * contract §6.
 */
function serveMissing(
  ctx: Context,
  pages: SitePages,
  site: Site,
  targets: Manifest['targets'],
  asked: SiteRequest,
): Response {
  const { request, plain } = asked
  const earlier = mayBeOfEarlier(plain) ? findEarlier(ctx, site, plain) : undefined
  if (earlier !== undefined) {
    traceMissing(asked, ': that of an earlier deployment is sent')
    return serveFile(ctx, request, earlier, site)
  }
  const app = pageOfApp(site, targets, asked)
  if (app !== undefined) {
    traceMissing(asked, ': /index.html is sent, because the site is a single-page app')
    return serveFile(ctx, request, app, site)
  }
  const page = isScript(plain) ? undefined : nearest404(targets, plain)
  traceMissing(asked, page === undefined ? '' : `: the page ${page.path} is sent`)
  if (page !== undefined) return serveFile(ctx, request, page, site, 404)
  return isScript(plain) ? plainNotFound() : notFound(pages, request)
}

/** The page of a single-page app, if the site is one and this request for a missing file gets it. contract 12.4. */
function pageOfApp(site: Site, targets: Manifest['targets'], asked: SiteRequest): SiteFile | undefined {
  const trace = asked.visit?.trace
  const page = isSpa(site, targets) ? targets.get('/index.html') : undefined
  if (page === undefined || !('path' in page)) {
    trace?.add('accept', 'The site is no single-page app: a path without a file is 404', { isPage: false })
    return undefined
  }
  const { isSent, why } = decideAppPage(asked.request, asked.plain)
  trace?.add('accept', `${why}: ${isSent ? 'the page of the app is sent' : '404'}`, { isPage: isSent })
  return isSent ? page : undefined
}

/**
 * Tabs opened before a deployment keep working: hashed files that the alias showed in the last week are still served.
 */
function findEarlier(ctx: Context, site: Site, plain: string): SiteFile | undefined {
  if (site.alias === null) return undefined
  const { pathPrefix } = site
  const shown = { aliasId: site.alias.id, since: ctx.now() - KEEP_EARLIER_MS, pathPrefix }
  // Loading a manifest is slow, and anybody can request files that no deployment ever had.
  for (const earlier of listEarlierDeployments(ctx.db, shown, storedPaths(plain))) {
    const basePath = `${earlier.basePath}${pathPrefix}`
    const { targets } = loadManifest(ctx, {
      ...earlier,
      basePath,
      manifestKey: manifestKey(earlier.deploymentId, basePath),
    })
    const target = targets.get(plain)
    if (target !== undefined && 'path' in target && mayBeOfEarlier(target.path)) return target
  }
  return undefined
}

/** The stored paths below the base path that could answer a plain path; a page has no hash. */
const storedPaths = (plain: string): string[] => [plain.slice(1)]

/** Defaults to true for a deployment with an index and no 404 page of its own. */
function isSpa(site: Site, targets: Manifest['targets']): boolean {
  return site.visibility.isSpa ?? (targets.has('/index.html') && !targets.has('/404.html'))
}

/** A missing script never gets HTML: the page that loads it would try to run that. contract §6. */
const isScript = (path: string): boolean => mimeTypeOf(path) === 'text/javascript'

function nearest404(targets: Manifest['targets'], plain: string): SiteFile | undefined {
  for (let folder = plain.slice(0, MAX_PATH_BYTES + 1); folder !== ''; ) {
    folder = folder.slice(0, folder.lastIndexOf('/'))
    const page = targets.get(`${folder}/404.html`)
    if (page !== undefined && 'path' in page) return page
  }
  return undefined
}

/** Redirects to the same path with a trailing `/`, for visitors who may see the site. */
export function redirect(location: string, { isShared, commitSha }: Site): Response {
  return new Response(null, {
    status: 308,
    headers: {
      location,
      'cache-control': `${isShared ? 'public' : 'private'}, max-age=0, must-revalidate`,
      'x-svc-commit': commitSha,
      ...(isShared ? {} : { vary: 'Cookie' }),
    },
  })
}

/** The methods that files support. */
export const isPlainRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** Whether the service may answer this plain path on every host. */
export const isOurs = (plain: string): boolean => plain.startsWith('/_svc/') || plain.startsWith('/api/')
