import type { Context } from '../context.ts'
import { mimeTypeOf, runsAsPage } from '../domain/content-type.ts'
import { behindPrefix, plainPath } from '../domain/plain-path.ts'
import type { Peer } from '../http/arrival.ts'
import { isNavigation, refuseView } from './gate.ts'
import { nobody } from './nobody.ts'
import { notFound, type SitePages } from './pages.ts'
import { type PathForm, parsePathForm } from './parse-path-form.ts'
import { planVisit } from './plan-visit.ts'
import { redirect } from './serve-asset.ts'
import { serveSite } from './serve-site.ts'
import type { Site } from './site.ts'
import type { Visit, Visitor } from './visit.ts'

const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-downloads'

/**
 * Serves `/public/:owner/:repo/:ref/*`, `/repo/:owner/:repo/:sha/*` and `/repo/:owner/:repo/alias/:alias/*` on the
 * admin host. Content is sandboxed, so that it never runs in the admin's origin. A browser that navigates to a page is
 * redirected to the site's own host. Returns undefined if the path is not a path form. contract §1 Hosts.
 */
export function servePathForm(
  ctx: Context,
  pages: SitePages,
  visitor: Visitor,
): Response | Promise<Response> | undefined {
  const { arrival, callerOf } = visitor
  const { request, path, search } = arrival
  if (!path.startsWith('/public/') && !path.startsWith('/repo/')) return undefined
  const form = isRunByAdmin(request) ? undefined : parsePathForm(ctx, path)
  if (form === undefined) return notFound(pages, arrival)
  const { site, mount, rest, isAnonymous } = form
  const refusal = refuse(ctx, pages, form, visitor)
  if (refusal !== undefined) return refusal
  if (rest === '') return sandboxed(redirect(`${mount}/${search}`, site), site)
  const { visit } = planVisit(ctx, site, {
    ...visitor,
    arrival: arrival.below(mount, withBareUpgrade(arrival.peer)),
    // `/public/...` ignores credentials. contract §4.
    callerOf: isAnonymous ? () => nobody(callerOf()) : callerOf,
  })
  if (visit.rule !== undefined || visit.line !== undefined || visit.routes?.mayProxy() === true)
    return serveRuled(ctx, pages, form, visit)
  const shown = (answer: Response): Response => {
    if (visit.routes !== undefined) dropWhatIsKept(answer.headers)
    const isPage = runsAsPage(answer.headers.get('content-type') ?? mimeTypeOf(visit.arrival.plain))
    const hostPath = answer.status < 400 && isPage && isDocument(request) ? pathOnHost(site, rest) : undefined
    return hostPath === undefined
      ? sandboxed(answer, site, visit.routes !== undefined)
      : toSiteHost(ctx, site, hostPath, search)
  }
  const answer = serveSite(ctx, pages, site, visit)
  return answer instanceof Response ? shown(answer) : answer.then(shown)
}

/**
 * Whether a page of the admin requests hosted content. Such a page must contain injected markup, and its policy, which
 * allows scripts of its own origin, would not stop it. Hosted pages themselves have no origin, or another.
 */
const isRunByAdmin = ({ headers }: Request): boolean =>
  headers.get('sec-fetch-site') === 'same-origin' && RUN.has(headers.get('sec-fetch-dest') ?? '')

const RUN: ReadonlySet<string> = new Set([
  'embed',
  'object',
  'script',
  'serviceworker',
  'sharedworker',
  'style',
  'worker',
])

/**
 * Serves a rule's response. A browser that navigates to a page is redirected to the site's own host before the backend
 * is called. The response must not touch what belongs to the admin's origin: it sets no cookies and clears nothing.
 */
async function serveRuled(
  ctx: Context,
  pages: SitePages,
  { site, rest }: PathForm,
  visit: Visit,
): Promise<Response> {
  const { request, search } = visit.arrival
  const hostPath = isDocument(request) ? pathOnHost(site, rest) : undefined
  if (hostPath !== undefined) return toSiteHost(ctx, site, hostPath, search)
  const answer = await serveSite(ctx, pages, site, visit)
  dropWhatIsKept(answer.headers)
  return sandboxed(answer, site, visit.rule === undefined)
}

/** Browsers also process the headers of the response that opens a WebSocket. */
function withBareUpgrade(peer: Peer): Peer {
  if (peer.upgrade === undefined) return peer
  return {
    address: peer.address,
    shownHost: peer.shownHost,
    sender: peer.sender,
    allowSilence: (isAllowed) => peer.allowSilence?.(isAllowed),
    upgrade(headers, owner) {
      dropWhatIsKept(headers)
      return peer.upgrade?.(headers, owner) ?? false
    },
  }
}

function dropWhatIsKept(headers: Headers): void {
  for (const name of KEPT_FOR_THE_ORIGIN) headers.delete(name)
}

/**
 * `nel` with `report-to` would make browsers report the admin's URLs to another host. A registered session
 * (`secure-session-registration`) would make them request a hosted path before each admin request.
 */
const KEPT_FOR_THE_ORIGIN = [
  'accept-ch',
  'alt-svc',
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'sec-session-registration',
  'secure-session-registration',
  'service-worker-allowed',
  'set-cookie',
  'set-login',
  'strict-transport-security',
  'use-as-dictionary',
]

/** Identical in every header to the response for what does not exist. It is our own, so it needs no sandbox. */
function refuse(
  ctx: Context,
  pages: SitePages,
  { site, isAnonymous }: PathForm,
  { arrival, callerOf }: Visitor,
): Response | undefined {
  if (site.visibility.isPublic) return undefined
  if (isAnonymous) return notFound(pages, arrival)
  const hidden = () => notFound(pages, arrival)
  return refuseView(ctx, { ...pages, hidden }, site, { arrival, caller: callerOf(), origin: ctx.adminUrl() })
}

const isDocument = (request: Request): boolean =>
  request.headers.get('sec-fetch-dest') === 'document' && isNavigation(request)

/** The same file's path on the site's own host; undefined if it is outside the folder served there. */
function pathOnHost({ basePath, hostBasePath }: Site, rest: string): string | undefined {
  if (basePath === hostBasePath) return rest
  return plainPath(rest).startsWith(`${hostBasePath}/`) ? behindPrefix(rest, hostBasePath) : undefined
}

function toSiteHost(ctx: Context, site: Site, path: string, search: string): Response {
  return new Response(null, {
    status: 302,
    headers: { location: `${ctx.siteUrl(site.host)}${path}${search}`, 'cache-control': 'no-store' },
  })
}

/** `keepsPolicy`: a policy of the site's own is sent besides, which can only forbid more. contract 13 §3. */
function sandboxed(answer: Response, site: Site, keepsPolicy = false): Response {
  const own = keepsPolicy ? answer.headers.get('content-security-policy') : null
  answer.headers.set('content-security-policy', SANDBOX)
  if (own !== null) answer.headers.append('content-security-policy', own)
  if (site.visibility.isPublic) answer.headers.set('access-control-allow-origin', '*')
  return answer
}
