import type { Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import type { SiteFile } from './manifest.ts'
import type { Site } from './resolve-site.ts'
import { serveFile } from './serve-file.ts'

/** `host` is the `Host` header, which may name another host than the URL does. */
type OpenFile = { host: string | null; site: Site; file: SiteFile }
const byUrl = generationCache<OpenFile>('sites', 20_000)

/**
 * Serves a file of an open site that was requested before by the same URL and host, without looking up either.
 * Undefined for any other request. An error here is reported by the usual way, which handles the same request next.
 */
export function serveKnownUrl(ctx: Context, request: Request): Response | undefined {
  const known = byUrl.get(ctx.db, request.url, nothing)
  if (known === undefined || known.host !== request.headers.get('host') || request.method !== 'GET')
    return undefined
  try {
    return serveFile(ctx, request, known.file, known.site)
  } catch {
    return undefined
  }
}

const nothing = () => undefined

/**
 * For files on the site's own host: path forms respond with more headers. URLs with a query are not kept, because
 * anybody can make up many, nor those whose host a proxy may replace.
 */
export function knowUrl(ctx: Context, { url, headers }: Request, site: Site, file: SiteFile): void {
  if (!site.isOpen || ctx.config.trustProxy.length > 0 || url.includes('?')) return
  byUrl.get(ctx.db, url, () => ({ host: headers.get('host'), site, file }))
}
