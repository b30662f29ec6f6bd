import type { Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import { maySeeStill } from './gate-memory.ts'
import { hasEnded } from './resolve-site.ts'
import { type Sending, serveFile } from './serve-file.ts'
import type { Site } from './site.ts'
import type { SiteFile } from './site-file.ts'

/** `host` is the `Host` header, which may name another host than the URL does. */
type Known = { host: string | null; site: Site } & (
  | { file: SiteFile; how: Sending }
  /** An answer without a body. */
  | { init: ResponseInit }
)
const byUrl = generationCache<Known>('sites', 20_000)

/**
 * Serves a file that was requested before by the same URL and host, without looking up either, to a visitor who may see
 * it without further checks. Undefined for any other request. An error here is reported by the usual way, which handles
 * the same request next.
 */
export function serveKnownUrl(ctx: Context, request: Request): Response | undefined {
  const known = byUrl.peek(ctx.db, request.url)
  if (known === undefined || known.host !== request.headers.get('host') || request.method !== 'GET')
    return undefined
  const { site } = known
  if (hasEnded(ctx, site)) return undefined
  if (!site.isShared && !maySeeStill(ctx, request, site)) return undefined
  if ('init' in known) return new Response(null, known.init)
  try {
    return serveFile(ctx, request, known.file, site, known.how)
  } catch {
    return undefined
  }
}

/**
 * For a GET on the site's own host that only a file can answer. URLs with a query are not kept, because anybody can make
 * up many, nor those whose host a proxy may replace.
 */
export function knowUrl(ctx: Context, request: Request, site: Site, file: SiteFile, how: Sending): void {
  if (!mayKnow(ctx, request)) return
  const host = request.headers.get('host')
  byUrl.get(ctx.db, request.url, () => ({ host, site, file, how }))
}

/** The same for an answer without a body that everybody gets. */
export function knowAnswer(ctx: Context, request: Request, site: Site, { status, headers }: Response): void {
  if (!mayKnow(ctx, request)) return
  const init = { status, headers: new Headers(headers) }
  byUrl.get(ctx.db, request.url, () => ({ host: request.headers.get('host'), site, init }))
}

const mayKnow = ({ config }: Context, { method, url }: Request): boolean =>
  method === 'GET' && config.trustProxy.length === 0 && !url.includes('?')
