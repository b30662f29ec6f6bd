import type { Context } from '../context.ts'
import { encodePath, MAX_PATH_BYTES } from '../domain/asset-path.ts'
import { mayBeOfEarlier } from '../domain/content-hash.ts'
import { mimeTypeOf } from '../domain/content-type.ts'
import { WEEK_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import type { Arrival } from '../http/arrival.ts'
import { errorResponse } from '../http/error-response.ts'
import { decideAppPage } from './app-page.ts'
import { markOf } from './cdn-mark.ts'
import type { Dressing } from './dressing.ts'
import { knowUrl } from './known-urls.ts'
import { loadManifest, manifestKey } from './manifest.ts'
import { notFound, plainNotFound, type SitePages } from './pages.ts'
import { listEarlierDeployments } from './queries.ts'
import { fileAt, type Manifest, shownAt, type Target } from './read-manifest.ts'
import { serveFile } from './serve-file.ts'
import type { Site } from './site.ts'
import type { SiteFile } from './site-file.ts'
import type { Trace } from './trace.ts'
import { unlisted } from './unlisted.ts'
import type { Visit } from './visit.ts'

const KEEP_EARLIER_MS = WEEK_MS

type AssetRequest = {
  arrival: Arrival
  /** Missing if only a file can answer, and the visitor may see it. */
  visit?: Visit
  /** The plain path that a rule puts in place of the visitor's. */
  rewritten?: string
  /** What the site's routing files do to the headers of a file; asked when one is sent. */
  dress?: () => Dressing | undefined
  /** A line with a condition takes the path, held or not. */
  isConditional?: boolean
}

/** The file that is looked for. */
type Wanted = Pick<AssetRequest, 'arrival' | 'dress'> & {
  plain: string
  trace: Trace | undefined
  isConditional: boolean
}

/** Serves the file to visitors who may see the site. */
export function serveAsset(
  ctx: Context,
  pages: SitePages,
  site: Site,
  { arrival, visit, rewritten, dress, isConditional = false }: AssetRequest,
): Response {
  const { request, mount, search } = arrival
  if (!isPlainRead(request)) return onlyReads(request)
  const wanted = {
    arrival,
    plain: rewritten ?? arrival.plain,
    trace: visit?.trace,
    isConditional,
    ...(dress === undefined ? {} : { dress }),
  }
  const { targets } = loadManifest(ctx, site)
  const target = rewritten === undefined ? targets.get(wanted.plain) : shownAt(targets, rewritten)
  if (target === undefined) return serveMissing(ctx, pages, site, targets, wanted)
  traceFile(wanted, target)
  if ('redirectTo' in target) {
    const answer = redirect(`${mount}${encodePath(target.redirectTo)}${search}`, site)
    markOf(site, isConditional)?.put(answer.headers)
    return answer
  }
  const how = { status: 200, dressing: dress?.(), mark: markOf(site, isConditional) }
  if (visit === undefined) knowUrl(ctx, request, site, target, how)
  return serveFile(ctx, request, target, site, how)
}

/** Whether there is a file for a plain path, or one of an earlier deployment: before what stands in for a missing one. */
export const isAnswered = (ctx: Context, site: Site, plain: string): boolean =>
  loadManifest(ctx, site).targets.has(plain) ||
  (mayBeOfEarlier(plain) && findEarlier(ctx, site, plain) !== undefined)

/** The answer to a method that files do not support. */
export const onlyReads = ({ method }: Request): Response =>
  errorResponse(
    new AppError('method_not_allowed', `Files support GET and HEAD, not ${method}`, {
      headers: { allow: 'GET, HEAD' },
    }),
  )

function traceFile({ plain, trace }: Wanted, target: Target): void {
  if ('redirectTo' in target)
    trace?.add('file', `${plain} redirects to its clean address ${target.redirectTo}`)
  else trace?.add('file', `The file ${target.path} is sent`, { path: target.path })
}

/** Also says what is sent instead: a 200 for a missing file would be confusing. */
const traceMissing = ({ plain, trace }: Wanted, instead: string): void =>
  trace?.add('file', `There is no file for ${plain}${instead}`, { path: null })

/**
 * Serves an earlier deployment's hashed file, the page of a single-page app, the nearest 404.html, or our own page.
 * contract §6.
 */
function serveMissing(
  ctx: Context,
  pages: SitePages,
  site: Site,
  targets: Manifest['targets'],
  wanted: Wanted,
): Response {
  const { arrival, plain, dress, isConditional } = wanted
  const { request } = arrival
  const send = (file: SiteFile, status: number, mark = markOf(site, isConditional)) =>
    serveFile(ctx, request, file, site, { status, dressing: dress?.(), mark })
  const earlier = mayBeOfEarlier(plain) ? findEarlier(ctx, site, plain) : undefined
  if (earlier !== undefined) {
    traceMissing(wanted, ': that of an earlier deployment is sent')
    return send(earlier.file, 200, markOf(site, isConditional, earlier.deploymentId))
  }
  const app = pageOfApp(site, targets, wanted)
  if (app !== undefined) {
    traceMissing(wanted, `: ${app.path} is sent, because the site is a single-page app`)
    return send(app, 200)
  }
  const page = isScript(plain) ? undefined : nearest404(targets, plain)
  traceMissing(wanted, page === undefined ? '' : `: the page ${page.path} is sent`)
  if (page !== undefined) return send(page, 404)
  return unlisted(isScript(plain) ? plainNotFound() : notFound(pages, arrival), site)
}

/** The page of a single-page app, if the site is one and this request for a missing file gets it. contract 12.4. */
function pageOfApp(site: Site, targets: Manifest['targets'], wanted: Wanted): SiteFile | undefined {
  const { arrival, plain, trace } = wanted
  const page = isSpa(site, targets)
    ? (fileAt(targets, '/200.html') ?? fileAt(targets, '/index.html'))
    : undefined
  if (page === undefined) {
    trace?.add('accept', 'The site is no single-page app: a path without a file is 404', { isPage: false })
    return undefined
  }
  const { isSent, why } = decideAppPage(arrival.request, plain)
  trace?.add('accept', `${why}: ${isSent ? 'the page of the app is sent' : '404'}`, { isPage: isSent })
  return isSent ? page : undefined
}

/**
 * Tabs opened before a deployment keep working: hashed files that the alias showed in the last week are still served.
 */
function findEarlier(
  ctx: Context,
  site: Site,
  plain: string,
): { file: SiteFile; deploymentId: string } | undefined {
  if (site.alias === null) return undefined
  const { pathPrefix, htmlHandling } = site
  const shown = { aliasId: site.alias.id, since: ctx.now() - KEEP_EARLIER_MS, pathPrefix }
  // Loading a manifest is slow, and anybody can request files that no deployment ever had.
  for (const earlier of listEarlierDeployments(ctx.db, shown, storedPaths(plain))) {
    const basePath = `${earlier.basePath}${pathPrefix}`
    const { targets } = loadManifest(ctx, {
      ...earlier,
      basePath,
      htmlHandling,
      manifestKey: manifestKey({ ...earlier, basePath, htmlHandling }),
    })
    const target = targets.get(plain)
    if (target !== undefined && 'path' in target && mayBeOfEarlier(target.path))
      return { file: target, deploymentId: earlier.deploymentId }
  }
  return undefined
}

/** The stored paths below the base path that could answer a plain path; a page has no hash. */
const storedPaths = (plain: string): string[] => [plain.slice(1)]

/** Defaults to true for a deployment with a 200.html, or with an index and no 404 page of its own. */
const isSpa = (site: Site, targets: Manifest['targets']): boolean => isSpaBy(site.visibility.isSpa, targets)

/** The same by the setting alone. */
export const isSpaBy = (setting: boolean | null, targets: Manifest['targets']): boolean =>
  setting ?? (targets.has('/200.html') || (targets.has('/index.html') && !targets.has('/404.html')))

/** A missing script never gets HTML: the page that loads it would try to run that. contract §6. */
const isScript = (path: string): boolean => mimeTypeOf(path) === 'text/javascript'

function nearest404(targets: Manifest['targets'], plain: string): SiteFile | undefined {
  for (let folder = plain.slice(0, MAX_PATH_BYTES + 1); folder !== ''; ) {
    folder = folder.slice(0, folder.lastIndexOf('/'))
    const page = fileAt(targets, `${folder}/404.html`)
    if (page !== undefined) return page
  }
  return undefined
}

/** Redirects to another spelling of the same address, for visitors who may see the site. */
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
export const isPlainRead = ({ method }: { method: string }): boolean => method === 'GET' || method === 'HEAD'

/** Whether the service may answer this plain path on every host. */
export const isOurs = (plain: string): boolean => plain.startsWith('/_svc/') || plain.startsWith('/api/')
