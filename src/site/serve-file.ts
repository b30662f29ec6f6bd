import type { Context } from '../context.ts'
import { chooseEncoding } from '../domain/content-encoding.ts'
import { AppError } from '../domain/errors.ts'
import { decideConditional, ifRangeAllows, parseRange } from '../domain/http-conditions.ts'
import { neverStored } from '../domain/routing/header-effect.ts'
import { errorResponse } from '../http/error-response.ts'
import { bodyOf, keptRangeOf, LARGEST_KEPT, rangeOf } from './body-cache.ts'
import { type CdnMark, unkept } from './cdn-mark.ts'
import type { Dressing } from './dressing.ts'
import { multipartRanges } from './multipart-ranges.ts'
import type { Site } from './site.ts'
import type { Representation, Shown, SiteFile } from './site-file.ts'
import { withHeaders } from './with-headers.ts'

/** What is served of a file, and of a form of it. */
type Form = Pick<Representation, 'blob' | 'etag' | 'headers' | 'notModified'>
type Served = Pick<SiteFile, 'available' | 'lastModified'> & {
  as(coding: Parameters<SiteFile['as']>[0]): Form
}

/** With which status a file is sent, what the site's routing files do to its headers, and what a CDN is told. */
export type Sending = { status: number; dressing: Dressing | undefined; mark: CdnMark | undefined }

/**
 * Responds with a file: 200, 206, 304, 412 or 416. With another `status` (a 404 page) the file is sent whole, without
 * conditions, and must not be cached. contract §6; RFC 9110 §13 and §14.
 */
export function serveFile(
  ctx: Context,
  request: Request,
  file: Served,
  site: Shown & Pick<Site, 'shownSince'>,
  { status, dressing, mark }: Sending,
): Response {
  const asked = request.headers
  const form = file.available.length === 0 ? file.as('identity') : choose(file, asked.get('accept-encoding'))
  const plain = form.headers(site)
  const dressed = dressing === undefined ? plain : dressing.whole(plain)
  if (status !== 200) {
    const headers = neverStored(dressed)
    return new Response(bodyOf(ctx, form.blob), { status, headers: unkept(mark)?.whole(headers) ?? headers })
  }

  const refusal = answerCondition(request, form, file.lastModified, site, { dressing, mark })
  const headers = mark === undefined ? dressed : mark.whole(dressed)
  if (refusal !== undefined) return refusal
  const range = asked.get('range')
  if (
    range !== null &&
    request.method === 'GET' &&
    ifRangeAllows(asked.get('if-range'), form.etag, dateOfBytes(file))
  )
    return serveRange(ctx, request, range, form, { headers, mark })
  return whole(ctx, request, form, headers)
}

/** With several codings the same date stands for different bytes. */
const dateOfBytes = ({ available, lastModified }: Served): number | null =>
  available.length === 0 ? lastModified : null

/** Returns 304 or 412 if a condition requires it. Most requests have none. */
function answerCondition(
  { method, headers: asked }: Request,
  form: Form,
  lastModified: number,
  site: Shown & Pick<Site, 'shownSince'>,
  told: Told,
): Response | undefined {
  const ifNoneMatch = asked.get('if-none-match')
  const ifMatch = asked.get('if-match')
  const ifUnmodifiedSince = asked.get('if-unmodified-since')
  // The usual case: a browser sends the one tag it received, and the date does not matter then.
  if (ifNoneMatch === form.etag && ifMatch === null && ifUnmodifiedSince === null)
    return notModified(form, site, told)
  const ifModifiedSince = asked.get('if-modified-since')
  if (ifNoneMatch === null && ifModifiedSince === null && ifMatch === null && ifUnmodifiedSince === null)
    return undefined

  const condition = { method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }
  const decision = decideConditional(condition, {
    etag: form.etag,
    lastModified,
    shownSince: site.shownSince,
  })
  if (decision === 'not_modified') return notModified(form, site, told)
  if (decision === 'proceed') return undefined
  return refused(
    told.mark,
    new AppError('precondition_failed', 'The file does not match If-Match or If-Unmodified-Since'),
  )
}

type Told = Pick<Sending, 'dressing' | 'mark'>

function notModified(form: Form, site: Shown, { dressing, mark }: Told): Response {
  const init = dressing === undefined ? form.notModified(site) : dressing.notModified(form.headers(site))
  return new Response(null, mark === undefined ? init : mark.init(init))
}

function choose(file: Served, acceptEncoding: string | null): Form {
  return file.as(chooseEncoding(acceptEncoding, file.available))
}

function serveRange(
  ctx: Context,
  request: Request,
  range: string,
  form: Form,
  { headers, mark }: { headers: Headers; mark: CdnMark | undefined },
): Response {
  const size = form.blob.sizeBytes
  const asked = parseRange(range, size)
  if (asked.kind === 'none') return whole(ctx, request, form, headers)
  if (asked.kind === 'unsatisfiable')
    return refused(
      mark,
      new AppError('range_not_satisfiable', `The file has ${size} ${size === 1 ? 'byte' : 'bytes'}`, {
        headers: { 'content-range': `bytes */${size}` },
      }),
    )
  const [first, ...others] = asked.ranges
  if (first === undefined) return whole(ctx, request, form, headers)
  const { blob } = form
  if (others.length > 0 && size <= LARGEST_KEPT)
    return multipartRanges(asked.ranges, size, headers, {
      read: (start, end) => keptRangeOf(ctx, blob, start, end),
    })
  const body = rangeOf(ctx, blob, first.start, first.end)
  if (others.length > 0)
    return multipartRanges(asked.ranges, size, headers, {
      stream: (start, end) => ctx.blobs.stream(blob, start, end + 1),
    })
  return new Response(body, {
    status: 206,
    headers: withHeaders(headers, {
      'content-range': `bytes ${first.start}-${first.end}/${size}`,
      'content-length': String(first.end - first.start + 1),
    }),
  })
}

function refused(mark: CdnMark | undefined, error: AppError): Response {
  const answer = errorResponse(error)
  unkept(mark)?.put(answer.headers)
  return answer
}

function whole(ctx: Context, { method }: Request, { blob }: Form, headers: Headers): Response {
  // The length is all that is told, and the file may not be on this machine.
  if (method === 'HEAD' && ctx.blobs.remote !== null)
    return new Response(null, { headers: withHeaders(headers, { 'content-length': String(blob.sizeBytes) }) })
  return new Response(bodyOf(ctx, blob), { headers })
}
