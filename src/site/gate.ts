import type { Caller, Context } from '../context.ts'
import { generationCache } from '../db/generation.ts'
import { decideView } from '../domain/access.ts'
import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { errorResponse } from '../http/error-response.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { signInAddress } from '../http/safe-redirect.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { readSettings } from '../modules/settings/service.ts'
import { nobody } from './nobody.ts'
import type { SitePages } from './pages.ts'
import type { Site } from './resolve-site.ts'

/** Who wants to see a site. `origin`: where the request was sent, for the way back, where that is not the site's own host. */
type Viewer = { request: Request; caller: Caller; origin?: string }

/**
 * May this caller see the site? Undefined when so, else the answer: for the anonymous 404 or the way to sign in, for a
 * person (also one whom the membership gate refuses) a 403 that names them. contract §4. A page of another origin that takes
 * it in as a part of itself is anonymous: whether it is there, and whether the visitor may see it, must look the same.
 */
export function refuseView(ctx: Context, pages: SitePages, site: Site, viewer: Viewer): Response | undefined {
  if (site.visibility.isPublic) return undefined
  const { request } = viewer
  const caller = isPartOfAnother(request) ? nobody(viewer.caller) : viewer.caller
  const { allowed } = decideView(site.visibility, roleOnSite(ctx, caller, site.project.id))
  if (allowed) {
    rememberView(ctx, request, site, caller)
    return undefined
  }
  const person = caller.actor.kind === 'user' ? caller.actor.user : caller.refused
  if (person === null) return refuseAnonymous(ctx, pages, site, viewer)
  const about = { email: person.email, siteHost: site.host, adminUrl: ctx.adminUrl() }
  return refusePerson(pages, request, about)
}

/** Longer ones carry cookies of the site's own: they are looked at each time, so that nobody fills the memory with them. */
const MOST_COOKIE = 1024

/** By `Cookie` header: the sites that it was shown, each with how long that holds if nothing is written. */
const shown = generationCache<WeakMap<Site, number>>('access')

/**
 * May whoever sends this see the site, as they could a moment ago with the same cookies? There is nothing to hash, to read
 * or to compare: whatever changes who may see it forgets this, and what changes the site makes another `Site` of it. False
 * when it has to be decided.
 */
export function maySeeStill(ctx: Context, request: Request, site: Site): boolean {
  const cookies = request.headers.get('cookie')
  if (cookies === null || request.headers.get('x-api-key') !== null || isPartOfAnother(request)) return false
  const until = shown.get(ctx.db, cookies, nothing)?.get(site)
  return until !== undefined && until > ctx.now()
}

const nothing = () => undefined

/** Only what was decided on the site's own host: elsewhere the gate does not stand. */
function rememberView(ctx: Context, request: Request, site: Site, { goodUntil, site: place }: Caller): void {
  const cookies = request.headers.get('cookie')
  const isHere = place?.host === site.host && place.projectId === site.project.id
  if (goodUntil === undefined || !isHere || cookies === null || cookies.length > MOST_COOKIE) return
  shown.get(ctx.db, cookies, () => new WeakMap())?.set(site, goodUntil)
}

function refusePerson(
  pages: SitePages,
  request: Request,
  about: Parameters<SitePages['forbidden']>[0],
): Response {
  if (acceptsHtml(request) || isNavigation(request)) return pages.forbidden(about)
  const { email, adminUrl } = about
  const hint = `Ask its owner for an invitation, or look at ${adminUrl}/account.`
  return errorResponse(new AppError('forbidden', `${email} has no access to this site. ${hint}`))
}

function refuseAnonymous(
  ctx: Context,
  pages: SitePages,
  site: Site,
  { request, origin = ctx.siteUrl(site.host) }: Viewer,
): Response {
  const answer = site.privateSiteResponse ?? readSettings(ctx).privateSiteResponse.value
  if (answer === 'not_found') return pages.hidden(site.host)
  if (isNavigation(request) && !isPartOfAnother(request)) return redirectToSignIn(ctx, request, origin)
  return errorResponse(
    new AppError('unauthenticated', `This site is private: sign in at ${ctx.adminUrl()}/signin`),
  )
}

function redirectToSignIn(ctx: Context, request: Request, origin: string): Response {
  const { pathname, search } = new URL(request.url)
  return new Response(null, {
    status: 302,
    headers: {
      location: signInAddress(ctx, `${origin}${pathname}${search}`),
      'cache-control': 'no-store',
    },
  })
}

/**
 * A browser that goes to a page, as opposed to one that fetches a part of it. One header is enough to tell: a proxy or a
 * client may send `Sec-Fetch-Dest` alone, and old browsers send neither.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const mode = request.headers.get('sec-fetch-mode')
  if (mode !== null) return mode === 'navigate'
  const destination = request.headers.get('sec-fetch-dest')
  return destination === null ? acceptsHtml(request) : destination === 'document'
}
