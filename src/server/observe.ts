import type { Context } from '../context.ts'
import { cleanAddress } from '../domain/clean-addresses.ts'
import { plainPath } from '../domain/plain-path.ts'
import { parseWebUrl } from '../domain/web-url.ts'
import type { Arrival } from '../http/arrival.ts'
import { loggedPath } from '../http/logged-path.ts'
import { sizeOf } from '../http/sent-size.ts'
import { pathFormOf } from '../site/parse-path-form.ts'
import { resolveHost } from '../site/resolve-site.ts'
import type { Site } from '../site/site.ts'

/** `startedAt` is from `performance.now`. */
type Seen = { startedAt: number; weight: number }

/** Of a path as sent: more than those of any file in triplets, so that each spelling of a page counts as that page. */
const MAX_PATH = 4096
const MAX_AGENT = 300
const MAX_HOST = 255

/** Records a request and its response in the request log. Never fails the request. */
export function observe(ctx: Context, arrival: Arrival, answer: Response, seen: Seen): void {
  try {
    const { weight, startedAt } = seen
    const { request, path } = arrival
    const { headers } = request
    const host = (arrival.host ?? '').slice(0, MAX_HOST)
    const asked = siteAsked(ctx, arrival)
    const projectId = asked?.site.project.id ?? null
    ctx.requestLog.take({
      at: ctx.now(),
      projectId,
      method: request.method.slice(0, 20),
      host,
      path: loggedPath(path).slice(0, MAX_PATH),
      canonicalPath: canonicalPathOf(asked, path, answer),
      status: answer.status,
      durationMs: performance.now() - startedAt,
      sizeBytes: sizeOf(request, answer),
      referrer: referrerOf(headers.get('referer'), host),
      linkedFrom: answer.status === 404 ? linkedFrom(ctx, headers.get('referer'), projectId) : null,
      userAgent: (headers.get('user-agent') ?? '').slice(0, MAX_AGENT),
      address: arrival.address,
      isPage: isPage(headers, answer),
      weight,
    })
  } catch (error) {
    ctx.requestLog.drop(seen.weight)
    ctx.log.debug('a request could not be added to the request log', { error })
  }
}

/**
 * Writes one line per request to the process log, without the query, which may contain a token, and without headers.
 */
export function logRequest(
  ctx: Context,
  { request, path }: Arrival,
  answer: Response,
  { startedAt, address }: { startedAt: number; address: string },
): void {
  ctx.log.info('request', {
    method: request.method,
    host: request.headers.get('host'),
    path: loggedPath(path),
    status: answer.status,
    ms: Math.round((performance.now() - startedAt) * 10) / 10,
    ip: address,
  })
}

/** The site of a request, and the path within it. */
type Asked = { site: Site; rest: string }

function siteAsked(ctx: Context, { hostHeader, path }: Arrival): Asked | undefined {
  const place = resolveHost(ctx, hostHeader)
  if (place?.kind === 'site') return { site: place, rest: path }
  return place?.kind === 'admin' ? pathFormOf(ctx, path) : undefined
}

/** The clean address of the file that answered, else the plain path. contract 17.7. */
function canonicalPathOf(asked: Asked | undefined, path: string, answer: Response): string {
  const plain = plainPath(loggedPath(asked?.rest ?? path)).slice(0, MAX_PATH)
  const isFile = answer.status < 400 && answer.headers.has('x-svc-commit')
  return isFile && plain.endsWith('.html') ? cleanAddress(plain, asked?.site.htmlHandling ?? null) : plain
}

/** The host of the other site that the visitor came from. */
function referrerOf(referrer: string | null, host: string): string | null {
  const url = referrer !== null && /^https?:/i.test(referrer) ? parseWebUrl(referrer) : null
  const from = url?.hostname.slice(0, MAX_HOST) ?? null
  return from === host ? null : from
}

/** The page of the same project that links here, by its path, or the host of another site. */
function linkedFrom(ctx: Context, referrer: string | null, projectId: string | null): string | null {
  const url = referrer !== null && /^https?:/i.test(referrer) ? parseWebUrl(referrer) : null
  if (url === null || url === undefined) return null
  const place = resolveHost(ctx, url.host)
  return place?.kind === 'site' && place.project.id === projectId
    ? plainPath(loggedPath(url.pathname)).slice(0, MAX_LINK)
    : url.hostname.slice(0, MAX_HOST)
}

const MAX_LINK = 1000

/** Whether a browser navigated to this HTML, if it says so: not loaded by a script or frame, nor prefetched. */
function isPage(headers: Headers, answer: Response): boolean {
  if (answer.headers.get('content-type')?.startsWith('text/html') !== true) return false
  const destination = headers.get('sec-fetch-dest')
  if (destination !== null && destination !== 'document') return false
  return headers.get('sec-purpose')?.startsWith('prefetch') !== true
}
