import type { Caller, Context, SessionUser } from '../context.ts'
import { decideView } from '../domain/access.ts'
import { AppError } from '../domain/errors.ts'
import { acceptsHtml } from '../http/accepts-html.ts'
import { errorResponse } from '../http/error-response.ts'
import { roleOnSite } from '../modules/auth/authorize.ts'
import { readSettings } from '../modules/settings/service.ts'
import type { SitePages } from './pages.ts'
import type { Site } from './resolve-site.ts'

/**
 * May this caller see the site? Undefined when so, else the answer: for the anonymous 404 or the way to sign in, for a
 * person (also one whom the membership gate refuses) a 403 that names them. `origin` is where the request was sent, for
 * the way back. contract §4.
 */
export function refuseView(
  ctx: Context,
  pages: SitePages,
  request: Request,
  site: Site,
  caller: Caller,
  origin = ctx.siteUrl(site.host),
): Response | undefined {
  if (site.visibility.isPublic) return undefined
  const { allowed } = decideView(site.visibility, roleOnSite(ctx, caller, site.project.id))
  if (allowed) return undefined
  const person = caller.actor.kind === 'user' ? caller.actor.user : caller.refused
  return person === null
    ? refuseAnonymous(ctx, pages, request, site, origin)
    : refusePerson(ctx, pages, request, site, person)
}

function refusePerson(
  ctx: Context,
  pages: SitePages,
  request: Request,
  site: Site,
  person: SessionUser,
): Response {
  if (acceptsHtml(request))
    return pages.forbidden({ email: person.email, siteHost: site.host, adminUrl: ctx.adminUrl() })
  return errorResponse(
    new AppError('forbidden', `${person.email} has no access to this site. Ask its owner for an invitation.`),
  )
}

function refuseAnonymous(
  ctx: Context,
  pages: SitePages,
  request: Request,
  site: Site,
  origin: string,
): Response {
  const answer = site.privateSiteResponse ?? readSettings(ctx).privateSiteResponse.value
  if (answer === 'not_found') return pages.hidden(site.host)
  if (isNavigation(request)) return redirectToSignIn(ctx, request, origin)
  return errorResponse(
    new AppError('unauthenticated', `This site is private: sign in at ${ctx.adminUrl()}/signin`),
  )
}

function redirectToSignIn(ctx: Context, request: Request, origin: string): Response {
  const url = new URL(request.url)
  const back = `${origin}${url.pathname}${url.search}`
  return new Response(null, {
    status: 302,
    headers: {
      location: `${ctx.adminUrl()}/signin?redirect=${encodeURIComponent(back)}`,
      'cache-control': 'no-store',
    },
  })
}

/** The answer for what is not there, and for what the asker may not know of: the two must be the same. */
export function notFound(pages: SitePages, request: Request): Response {
  if (acceptsHtml(request)) return pages.notFound()
  return errorResponse(new AppError('not_found', 'There is nothing at this address'))
}

/** A browser that goes to a page, as opposed to one that fetches a part of it. */
export function isNavigation(request: Request): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const mode = request.headers.get('sec-fetch-mode')
  return isRead && (mode === null ? acceptsHtml(request) : mode === 'navigate')
}
