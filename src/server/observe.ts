import type { Context } from '../context.ts'
import { plainPath } from '../domain/plain-path.ts'
import { parseWebUrl } from '../domain/web-url.ts'
import type { Arrival } from '../http/arrival.ts'
import { loggedPath } from '../http/logged-path.ts'
import { sizeOf } from '../http/sent-size.ts'
import { siteOfPathForm } from '../site/parse-path-form.ts'
import { resolveHost } from '../site/resolve-site.ts'

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
    const projectId = projectOf(ctx, arrival)
    ctx.requestLog.take({
      at: ctx.now(),
      projectId,
      method: request.method.slice(0, 20),
      host,
      path: loggedPath(path).slice(0, MAX_PATH),
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

function projectOf(ctx: Context, { hostHeader, path }: Arrival): string | null {
  const place = resolveHost(ctx, hostHeader)
  if (place?.kind === 'site') return place.project.id
  return place?.kind === 'admin' ? (siteOfPathForm(ctx, path)?.project.id ?? null) : null
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
