import { httpDate } from '../domain/http-date.ts'
import type { ServeContent } from '../modules/compare/content.ts'
import { serveFile } from './serve-file.ts'
import { etagOf, headersOf304 } from './site-file.ts'
import { withHeaders } from './with-headers.ts'

/** Bytes of a deployment for who may read the project, beside any site. */
export const serveContent: ServeContent = (ctx, request, { blob, lastModified, headers: own }) => {
  const etag = etagOf(blob.sha256)
  const headers = withHeaders(own, {
    etag,
    'last-modified': httpDate(lastModified),
    'accept-ranges': 'bytes',
    'content-length': String(blob.sizeBytes),
  })
  const form = {
    blob,
    etag,
    headers: () => headers,
    notModified: () => ({ status: 304 as const, headers: headersOf304(headers, own.keys()) }),
  }
  const file = { available: [], lastModified, as: () => form }
  return serveFile(ctx, request, file, NO_SITE, { status: 200, dressing: undefined, mark: undefined })
}

/** The headers of a form of a site depend on it; these do not. */
const NO_SITE = { isShared: false, visibility: { isPublic: false }, isNoindex: false, shownSince: 0 }
