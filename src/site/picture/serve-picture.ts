import type { Context } from '../../context.ts'
import { encodePath } from '../../domain/asset-path.ts'
import { AUTH_DIALOG_PATH } from '../../domain/auth-dialog-path.ts'
import type { Arrival } from '../../http/arrival.ts'
import { arePicturesOn, askedOrigin, PICTURE_PATH } from '../../modules/pictures/service.ts'
import { openTicket, type Pictured } from '../../modules/pictures/tickets.ts'
import { withContents } from '../../platform/blob-store.ts'
import { decideAppPage } from '../app-page.ts'
import { bodyOf, LARGEST_KEPT } from '../body-cache.ts'
import { loadManifest, manifestKey } from '../manifest.ts'
import { plainNotFound } from '../pages.ts'
import { fileAt, type Manifest, type Target } from '../read-manifest.ts'
import { isPlainRead, isSpaBy, onlyReads } from '../serve-asset.ts'
import { serveFile } from '../serve-file.ts'
import type { SiteFile } from '../site-file.ts'
import { leadElements, leadStyle, leadStyles } from './lead-page.ts'
import { findPictured } from './queries.ts'

/**
 * Serves a file of a deployment, or the page of its app, for a picture on a page of the admin: by a ticket in the path, since
 * a sandboxed page sends no cookies, and with a policy that lets it reach nothing but its own files. Undefined for any other
 * path. contract 17.2, decision 22.
 */
export function servePicture(ctx: Context, arrival: Arrival): Response | Promise<Response> | undefined {
  const { request, path } = arrival
  if (!path.startsWith(PICTURE_PATH)) return undefined
  arrival.isUnlogged = true
  if (!isPlainRead(request)) return readable(onlyReads(request))
  const end = path.indexOf('/', PICTURE_PATH.length)
  if (end === -1 || !arePicturesOn(ctx) || request.headers.get('sec-fetch-dest') === 'document')
    return nothingHere()
  const pictured = openTicket(ctx, path.slice(PICTURE_PATH.length, end))
  if (pictured === undefined) return nothingHere()
  return withContents(ctx, () => serveBelow(ctx, arrival, path.slice(0, end), pictured))
}

function serveBelow(
  ctx: Context,
  arrival: Arrival,
  mount: string,
  { deploymentId, basePath }: Pictured,
): Response | Promise<Response> {
  const row = findPictured(ctx.db, deploymentId)
  if (row === null) return nothingHere()
  const source = { ...row, basePath, manifestKey: manifestKey({ ...row, basePath }) }
  const { targets } = loadManifest(ctx, source)
  const { plain } = arrival.below(mount, arrival.peer)
  const isSpa = isSpaBy(row.isSpa === null ? null : row.isSpa === 1, targets)
  const target = targets.get(plain) ?? pageOfApp(arrival, plain, isSpa, targets)
  if (target === undefined && plain !== AUTH_DIALOG_PATH) return nothingHere()
  const origin = askedOrigin(ctx, {
    isSecure: arrival.isSecure,
    hostWithPort: arrival.hostHeader.toLowerCase(),
  })
  const dressed = (answer: Response) => withHeaders(answer, `${origin}${mount}/`, origin)
  const answer = target === undefined ? noDialog() : answerOf(ctx, arrival, mount, target)
  return answer instanceof Promise ? answer.then(dressed) : dressed(answer)
}

function pageOfApp(
  { request }: Arrival,
  plain: string,
  isSpa: boolean,
  targets: Manifest['targets'],
): SiteFile | undefined {
  const page = isSpa ? (fileAt(targets, '/200.html') ?? fileAt(targets, '/index.html')) : undefined
  return page !== undefined && decideAppPage(request, plain).isSent ? page : undefined
}

/** The headers are set by `withHeaders`. */
function answerOf(
  ctx: Context,
  { request, search }: Arrival,
  mount: string,
  target: Target,
): Response | Promise<Response> {
  if ('redirectTo' in target)
    return new Response(null, {
      status: 308,
      headers: { location: `${mount}${encodePath(target.redirectTo)}${search}` },
    })
  const { contentType, coding } = target.sentAs
  const isPage = coding === null && PAGE_TYPE.test(contentType)
  if (isPage || (coding === null && STYLE_TYPE.test(contentType)))
    return led(ctx, request, target, { mount, isPage })
  return serveFile(ctx, request, target, AS_PRIVATE, { status: 200, dressing: undefined, mark: undefined })
}

const PAGE_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/
const STYLE_TYPE = /^text\/css\b/

const AS_PRIVATE = {
  isShared: false,
  isNoindex: true,
  shownSince: 0,
  visibility: {
    isPublic: false,
    requiredRole: 'viewer',
    isSpa: null,
    setBy: { isPublic: 'project', requiredRole: 'project', isSpa: 'default' },
  },
} as const

/** Small files are led in memory. A large page is led while it passes; a large style sheet is sent as it is. */
function led(
  ctx: Context,
  request: Request,
  file: SiteFile,
  { mount, isPage }: { mount: string; isPage: boolean },
): Response | Promise<Response> {
  const headers = { 'content-type': file.sentAs.contentType }
  if (request.method === 'HEAD') return new Response(null, { headers })
  const { blob } = file.as('identity')
  const body = bodyOf(ctx, blob)
  if (blob.sizeBytes > LARGEST_KEPT)
    return isPage
      ? leadStyles(mount).transform(leadElements(mount).transform(new Response(body, { headers })))
      : new Response(body, { headers })
  const lead = (bytes: Uint8Array<ArrayBuffer>) =>
    new Response(isPage ? ledPage(bytes, mount) : leadStyle(bytes, mount), { headers })
  if (body instanceof Uint8Array) return lead(body)
  return new Response(body).bytes().then(lead)
}

const ledPage = (bytes: Uint8Array, mount: string): ArrayBuffer =>
  leadStyles(mount).transform(leadElements(mount).transform(new Uint8Array(bytes).buffer))

/**
 * The isolation gives it a process of its own, which the page of the admin does not wait for, and the list of connections
 * closes WebRTC, which `default-src` leaves open, where the browser knows it.
 */
function withHeaders(answer: Response, mount: string, origin: string): Response {
  const { headers } = answer
  for (const name of DROPPED) headers.delete(name)
  headers.set(
    'content-security-policy',
    `sandbox allow-scripts; default-src ${mount} data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'; frame-ancestors ${origin}`,
  )
  headers.set('document-isolation-policy', 'isolate-and-require-corp')
  headers.set('connection-allowlist', '(response-origin); webrtc=block')
  headers.set('referrer-policy', 'no-referrer')
  headers.set('x-content-type-options', 'nosniff')
  headers.set('x-dns-prefetch-control', 'off')
  headers.set('cache-control', 'private, max-age=600')
  return readable(answer)
}

/** For a page of an opaque origin, which would get nothing else of its own, and a refusal as an error of the browser. */
function readable(answer: Response): Response {
  answer.headers.set('access-control-allow-origin', '*')
  answer.headers.set('cross-origin-resource-policy', 'cross-origin')
  return answer
}

/** Nobody signs in inside a picture, and a site that offers it is none with an error. */
const noDialog = (): Response =>
  new Response('', { headers: { 'content-type': 'text/javascript; charset=utf-8' } })

/** The same for a ticket that is none, so that it says nothing. */
const nothingHere = (): Response => readable(plainNotFound())

/** What is said of a visitor's cookies holds for no picture. */
const DROPPED = ['vary', 'x-svc-commit']
