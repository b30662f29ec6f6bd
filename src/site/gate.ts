import type { Caller, Context } from '../context.ts'
import { decideView } from '../domain/access.ts'
import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import type { Arrival } from '../http/arrival.ts'
import { errorResponse } from '../http/error-response.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { signInAddress } from '../http/safe-redirect.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { readSettings } from '../modules/settings/read-settings.ts'
import { rememberView } from './gate-memory.ts'
import { nobody } from './nobody.ts'
import type { SitePages } from './pages.ts'
import type { Site } from './site.ts'

/**
 * Who wants to see a site. `origin`: where the request was sent, for the way back after sign-in, if not the site's
 * host.
 */
type Viewer = { arrival: Arrival; caller: Caller; origin?: string }

/**
 * Returns undefined if this caller may see the site, otherwise the response. Anonymous callers get 404 or the way to
 * sign in; a signed-in person (even one whom the membership gate rejects) gets a 403 that names them. contract §4. A
 * page of another origin that embeds the site counts as anonymous: it must not learn whether the site exists or whether
 * the visitor may see it.
 */
export function refuseView(ctx: Context, pages: SitePages, site: Site, viewer: Viewer): Response | undefined {
  if (site.visibility.isPublic) return undefined
  const { request } = viewer.arrival
  const caller = isPartOfAnother(request) ? nobody(viewer.caller) : viewer.caller
  const { allowed } = decideView(site.visibility, roleOnSite(ctx, caller, site.project.id))
  if (allowed) {
    rememberView(ctx, request, site, caller)
    return undefined
  }
  const person = 'user' in caller.actor ? caller.actor.user : caller.refused
  if (person === null) return refuseAnonymous(ctx, pages, site, viewer)
  const about = { email: person.email, siteHost: site.host, adminUrl: ctx.adminUrl() }
  return refusePerson(pages, request, about)
}

function refusePerson(
  pages: SitePages,
  request: Request,
  about: Parameters<SitePages['forbidden']>[0],
): Response {
  if (acceptsHtml(request) || isNavigation(request)) return pages.forbidden(about)
  const { email, adminUrl } = about
  const hint = `Ask its owner for an invitation, or go to ${adminUrl}/account.`
  return errorResponse(new AppError('forbidden', `${email} has no access to this site. ${hint}`))
}

function refuseAnonymous(
  ctx: Context,
  pages: SitePages,
  site: Site,
  { arrival, origin = ctx.siteUrl(site.host) }: Viewer,
): Response {
  const { request } = arrival
  const answer = site.privateSiteResponse ?? readSettings(ctx).privateSiteResponse.value
  if (answer === 'not_found') return pages.hidden(site.host, arrival)
  if (isNavigation(request) && !isPartOfAnother(request))
    return redirectToSignIn(ctx, `${origin}${arrival.target}`)
  return errorResponse(
    new AppError('unauthenticated', `This site is private: sign in at ${ctx.adminUrl()}/signin`),
  )
}

const redirectToSignIn = (ctx: Context, address: string): Response =>
  new Response(null, {
    status: 302,
    headers: { location: signInAddress(ctx, address), 'cache-control': 'no-store' },
  })

/**
 * Whether a browser navigates to a page instead of loading a subresource. One header is enough: a proxy or client may
 * send only `Sec-Fetch-Dest`, and old browsers send neither.
 */
export function isNavigation(request: Request): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const mode = request.headers.get('sec-fetch-mode')
  if (mode !== null) return mode === 'navigate'
  const destination = request.headers.get('sec-fetch-dest')
  return destination === null ? acceptsHtml(request) : destination === 'document'
}
