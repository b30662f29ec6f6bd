import type { Caller, Context, RequestFacts } from '../context.ts'
import type { SiteRule } from './choose-rule.ts'
import { refuseView } from './gate.ts'
import type { SitePages } from './pages.ts'
import type { Site } from './resolve-site.ts'
import { serveAsset } from './serve-asset.ts'
import { servePipeline } from './serve-pipeline.ts'
import { serveProxy } from './serve-proxy.ts'
import { isWebSocket, serveWebSocket, type Upgrade } from './serve-websocket.ts'
import type { Trace } from './trace.ts'
import { markVariant, type Variant } from './traffic.ts'

/** What is asked of a site: `path` is the raw path of the URL below it, with its `/`; `search` begins with `?` or is empty. */
export type SiteRequest = {
  request: Request
  path: string
  search: string
  mount: string
  /** Missing on an open site, where a file is all that there can be. */
  visit?: Visit
}

/** What is known of a request to a site that has more than files. */
export type Visit = {
  /** The one that takes the request. */
  rule: SiteRule | undefined
  /** What a split chose. */
  variant: Variant | undefined
  facts: RequestFacts
  allowSilence?: ((isAllowed: boolean) => void) | undefined
  upgrade?: Upgrade | undefined
  trace?: Trace | undefined
}

/** Visibility and gate, then the rule or the file. `callerOf` is asked only where the answer depends on who calls. contract §1 Hosts. */
export function serveSite(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: SiteRequest,
  callerOf: () => Caller,
): Response | Promise<Response> {
  const refusal = site.visibility.isPublic
    ? undefined
    : refuseView(ctx, pages, asked.request, site, callerOf())
  if (asked.visit !== undefined) return visited(ctx, pages, site, asked, asked.visit, refusal, callerOf)
  return refusal ?? serveAsset(ctx, pages, site, asked)
}

/** What the gate refuses says nothing of the variant that it would have been. */
function visited(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: SiteRequest,
  visit: Visit,
  refusal: Response | undefined,
  callerOf: () => Caller,
): Response | Promise<Response> {
  traceView(site, visit, refusal)
  if (refusal !== undefined) return refusal
  const { rule, variant } = visit
  const answer =
    rule === undefined
      ? serveAsset(ctx, pages, site, asked)
      : serveRule(ctx, pages, site, asked, visit, rule, callerOf)
  if (variant === undefined) return answer
  return answer instanceof Response
    ? markVariant(answer, variant)
    : answer.then((response) => markVariant(response, variant))
}

function traceView({ visibility }: Site, { trace }: Visit, refusal: Response | undefined): void {
  if (trace === undefined) return
  const { isPublic, requiredRole, setBy } = visibility
  const what = isPublic ? 'The site is public' : `The site is private and needs the role ${requiredRole}`
  const by = isPublic ? setBy.isPublic : `${setBy.isPublic} and ${setBy.requiredRole}`
  trace.add('visibility', `${what}, as the ${by} says`, { ...visibility })
  if (isPublic) trace.add('gate', 'Everybody may see it')
  else if (refusal === undefined) trace.add('gate', 'The visitor may see it')
  else trace.add('gate', `The visitor may not see it: ${refusal.status}`, { status: refusal.status })
}

function serveRule(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: SiteRequest,
  visit: Visit,
  rule: SiteRule,
  callerOf: () => Caller,
): Response | Promise<Response> {
  const { request, path, search } = asked
  if (rule.record.proxyType === 'pipeline') {
    if (visit.trace === undefined) return servePipeline(ctx, site, rule.pipeline(), asked, callerOf())
    visit.trace.add('pipeline', 'The pipeline of the rule runs')
    return new Response(null)
  }
  if (rule.record.proxyType === 'internal_rewrite')
    return serveAsset(ctx, pages, site, { ...asked, path: rewritten(rule, path) }, true)
  const { facts, allowSilence, trace } = visit
  const proxied = { request, path, search, facts, allowSilence, trace }
  return isWebSocket(request) && visit.trace === undefined
    ? serveWebSocket(ctx, site, rule, proxied, visit.upgrade)
    : serveProxy(ctx, site, rule, proxied)
}

/** A target that ends in `/` gets what stands for the star of a `/x/*` pattern, of `*` without its `/`. contract §8. */
function rewritten({ record, pattern }: SiteRule, path: string): string {
  const { targetUrl } = record
  const rest = pattern.kind === 'prefix' ? path.slice(pattern.literal.length).replace(/^\//, '') : ''
  return targetUrl.endsWith('/') ? `${targetUrl}${rest}` : targetUrl
}
