import type { Context } from '../context.ts'
import { encodePath, MAX_PATH_BYTES, requestPathToAssetPath } from '../domain/asset-path.ts'
import { mayBeOfEarlier } from '../domain/content-hash.ts'
import { mimeTypeOf } from '../domain/content-type.ts'
import { WEEK_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { errorResponse } from '../http/error-response.ts'
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
  const found = findTarget(targets, asked.path)
  const target =
    isRewrite && found !== undefined && 'redirectTo' in found ? targets.get(found.redirectTo) : found
  if (target === undefined) return serveMissing(ctx, pages, site, targets, asked)
  traceFile(asked.visit?.trace, asked.path, target)
  if ('redirectTo' in target)
    return redirect(`${asked.mount}${encodePath(target.redirectTo)}${asked.search}`, site)
  if (asked.visit === undefined) knowUrl(ctx, request, site, target)
  return serveFile(ctx, request, target, site)
}

function traceFile(trace: Trace | undefined, path: string, target: Target): void {
  if ('redirectTo' in target) trace?.add('file', `${path} is a folder: it redirects to ${target.redirectTo}`)
  else trace?.add('file', `The file ${target.path} is sent`, { path: target.path })
}

const NOT_THE_APP =
  '. The single-page app answers only requests for pages: they accept text/html, and the last part of the path has no dot'

/** Also says what is sent instead: a 200 for a missing file would be confusing. */
const traceMissing = ({ path, visit }: SiteRequest, instead: string): void =>
  visit?.trace?.add('file', `There is no file for ${path}${instead}`, { path: null })

/**
 * A path written as it is stored needs no decoding. `a%20b` means `a b`, and a file named `a%20b` only if there is no
 * `a b`.
 */
function findTarget(targets: Manifest['targets'], path: string): Target | undefined {
  return path.includes('%')
    ? (findDecoded(targets, path) ?? targets.get(path))
    : (targets.get(path) ?? findDecoded(targets, path))
}

/** A path can be encoded in several ways; files are stored under one. */
function findDecoded(targets: Manifest['targets'], path: string): Target | undefined {
  const decoded = requestPathToAssetPath(path)
  return decoded === null ? undefined : targets.get(`/${decoded}`)
}

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
  const { request, path } = asked
  const name = requestPathToAssetPath(path) ?? path
  const earlier = mayBeOfEarlier(name) ? findEarlier(ctx, site, path) : undefined
  if (earlier !== undefined) {
    traceMissing(asked, ': that of an earlier deployment is sent')
    return serveFile(ctx, request, earlier, site)
  }
  const isApp = isSpa(site, targets) && targets.has('/index.html')
  const app = isApp && acceptsHtml(request) && !hasExtension(name) ? targets.get('/index.html') : undefined
  if (app !== undefined && 'path' in app) {
    traceMissing(asked, ': /index.html is sent, because the site is a single-page app')
    return serveFile(ctx, request, app, site)
  }
  const page = isScript(name) ? undefined : nearest404(targets, path)
  traceMissing(
    asked,
    `${page === undefined ? '' : `: the page ${page.path} is sent`}${isApp ? NOT_THE_APP : ''}`,
  )
  if (page !== undefined) return serveFile(ctx, request, page, site, 404)
  return isScript(name) ? plainNotFound() : notFound(pages, request)
}

/**
 * Tabs opened before a deployment keep working: hashed files that the alias showed in the last week are still served.
 */
function findEarlier(ctx: Context, site: Site, path: string): SiteFile | undefined {
  if (site.alias === null) return undefined
  const { pathPrefix } = site
  const shown = { aliasId: site.alias.id, since: ctx.now() - KEEP_EARLIER_MS, pathPrefix }
  // Loading a manifest is slow, and anybody can request files that no deployment ever had.
  for (const earlier of listEarlierDeployments(ctx.db, shown, storedPaths(path))) {
    const basePath = `${earlier.basePath}${pathPrefix}`
    const { targets } = loadManifest(ctx, {
      ...earlier,
      basePath,
      manifestKey: manifestKey(earlier.deploymentId, basePath),
    })
    const target = findTarget(targets, path)
    if (target !== undefined && 'path' in target && mayBeOfEarlier(target.path)) return target
  }
  return undefined
}

/** The stored paths below the base path that could answer `path`; a page has no hash. */
const storedPaths = (path: string): string[] => [
  ...new Set([requestPathToAssetPath(path) ?? '', path.slice(1)]),
]

/** Defaults to true for a deployment with an index and no 404 page of its own. */
function isSpa(site: Site, targets: Manifest['targets']): boolean {
  return site.visibility.isSpa ?? (targets.has('/index.html') && !targets.has('/404.html'))
}

const hasExtension = (path: string): boolean => path.lastIndexOf('.') > path.lastIndexOf('/')

/** A missing script never gets HTML: the page that loads it would try to run that. contract §6. */
const isScript = (path: string): boolean => mimeTypeOf(path) === 'text/javascript'

function nearest404(targets: Manifest['targets'], path: string): SiteFile | undefined {
  const decoded = `/${requestPathToAssetPath(path) ?? ''}`
  for (let folder = decoded.slice(0, MAX_PATH_BYTES + 1); folder !== ''; ) {
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

/** Whether the service may answer this path on every host. */
export const isOurs = (path: string): boolean => path.startsWith('/_svc/') || path.startsWith('/api/')
