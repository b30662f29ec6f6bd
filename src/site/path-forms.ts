import type { Caller, Context } from '../context.ts'
import { requestPathToAssetPath } from '../domain/asset-path.ts'
import { isHtml } from '../domain/content-type.ts'
import { isNavigation, refuseView } from './gate.ts'
import { notFound, type SitePages } from './pages.ts'
import { type PathForm, parsePathForm } from './parse-path-form.ts'
import { planVisit, type VisitInput } from './plan-visit.ts'
import type { Site } from './resolve-site.ts'
import { redirect } from './serve-asset.ts'
import { type SiteRequest, serveSite } from './serve-site.ts'

const SANDBOX = 'sandbox allow-scripts allow-forms allow-popups allow-downloads'

/**
 * `/public/:owner/:repo/:ref/*`, `/repo/:owner/:repo/:sha/*` and `/repo/:owner/:repo/alias/:alias/*` on the admin host.
 * What they send is sandboxed, so that it never runs in the admin's origin; a browser that goes to a page is sent to the
 * site's own host. Undefined when the path is no path form. contract §1 Hosts.
 */
export function servePathForm(
  ctx: Context,
  pages: SitePages,
  { request, path, search, facts, peer, trace }: VisitInput & { search: string },
  callerOf: () => Caller,
): Response | Promise<Response> | undefined {
  if (!path.startsWith('/public/') && !path.startsWith('/repo/')) return undefined
  const form = parsePathForm(ctx, path)
  if (form === undefined) return notFound(pages, request)
  const { site, mount, rest } = form
  const refusal = refuse(ctx, pages, request, form, callerOf)
  if (refusal !== undefined) return refusal
  if (rest === '') return sandboxed(redirect(`${mount}/${search}`, site), site)
  const { visit } = planVisit(ctx, site, { request, path: rest, facts, peer, trace })
  if (visit.rule !== undefined)
    return serveRuled(ctx, pages, form, { request, path: rest, search, mount, visit }, callerOf)
  const answer = serveSite(ctx, pages, site, { request, path: rest, search, mount, visit }, callerOf)
  if (!(answer instanceof Response)) return answer.then((late) => sandboxed(late, site))
  const isPage = isHtmlAnswer(answer, rest)
  const hostPath = answer.status < 400 && isPage && isDocument(request) ? pathOnHost(site, rest) : undefined
  return hostPath === undefined ? sandboxed(answer, site) : toSiteHost(ctx, site, hostPath, search)
}

/**
 * What a rule answers. A browser that goes to a page goes to the site's own host, before a backend is asked. What comes
 * back must not reach what the admin's origin keeps: no cookies are set, and nothing of it is cleared.
 */
async function serveRuled(
  ctx: Context,
  pages: SitePages,
  { site, rest, isAnonymous }: PathForm,
  asked: SiteRequest,
  callerOf: () => Caller,
): Promise<Response> {
  const hostPath = isDocument(asked.request) ? pathOnHost(site, rest) : undefined
  if (hostPath !== undefined) return toSiteHost(ctx, site, hostPath, asked.search)
  const visitor = isAnonymous ? () => nobody(callerOf()) : callerOf
  const answer = await serveSite(ctx, pages, site, asked, visitor)
  for (const name of OF_THE_ORIGIN) answer.headers.delete(name)
  return sandboxed(answer, site)
}

/** `/public/...` never looks at credentials. contract §4. */
const nobody = (caller: Caller): Caller => ({
  ...caller,
  actor: { kind: 'anonymous', ip: caller.actor.kind === 'operator' ? '' : caller.actor.ip },
  refused: null,
})

const OF_THE_ORIGIN = ['set-cookie', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security']

/** To the last header like the answer for what does not exist; it is our own, so it needs no sandbox. */
function refuse(
  ctx: Context,
  pages: SitePages,
  request: Request,
  { site, isAnonymous }: PathForm,
  callerOf: () => Caller,
): Response | undefined {
  if (site.visibility.isPublic) return undefined
  if (isAnonymous) return notFound(pages, request)
  return refuseView(
    ctx,
    { ...pages, hidden: () => notFound(pages, request) },
    request,
    site,
    callerOf(),
    ctx.adminUrl(),
  )
}

function isHtmlAnswer(answer: Response, rest: string): boolean {
  return answer.headers.get('content-type')?.startsWith('text/html') ?? isHtml(rest)
}

const isDocument = (request: Request): boolean =>
  request.headers.get('sec-fetch-dest') === 'document' && isNavigation(request)

/** The same file's path on the site's own host; undefined when it lies outside of the folder that is served there. */
function pathOnHost({ basePath, hostBasePath }: Site, rest: string): string | undefined {
  if (basePath === hostBasePath) return rest
  const asset = `/${requestPathToAssetPath(rest) ?? ''}`
  if (!asset.startsWith(`${hostBasePath}/`)) return undefined
  return `/${rest.split('/').slice(hostBasePath.split('/').length).join('/')}`
}

function toSiteHost(ctx: Context, site: Site, path: string, search: string): Response {
  return new Response(null, {
    status: 302,
    headers: { location: `${ctx.siteUrl(site.host)}${path}${search}`, 'cache-control': 'no-store' },
  })
}

function sandboxed(answer: Response, site: Site): Response {
  answer.headers.set('content-security-policy', SANDBOX)
  if (site.visibility.isPublic) answer.headers.set('access-control-allow-origin', '*')
  return answer
}
