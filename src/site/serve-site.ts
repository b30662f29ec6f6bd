import type { Caller, Context, RequestFacts } from '../context.ts'
import { plainPath } from '../domain/plain-path.ts'
import type { SiteRule } from './choose-rule.ts'
import { refuseView } from './gate.ts'
import type { SitePages } from './pages.ts'
import type { Site } from './resolve-site.ts'
import { serveAsset } from './serve-asset.ts'
import { explainPipeline, servePipeline } from './serve-pipeline.ts'
import { serveProxy } from './serve-proxy.ts'
import { isWebSocket, serveWebSocket, type Upgrade } from './serve-websocket.ts'
import type { Trace } from './trace.ts'
import { markVariant, type Variant } from './traffic.ts'

/**
 * A request to a site. `path` is the raw URL path within it, with its `/`, for those who get it as sent; `plain`, its plain
 * form, decides what answers. `search` starts with `?` or is empty.
 */
export type SiteRequest = {
  request: Request
  path: string
  plain: string
  search: string
  mount: string
  /** Missing if only a file can answer, and the visitor may see it. */
  visit?: Visit
}

/** The same with a plan, which everything except files needs. */
export type PlannedRequest = SiteRequest & { visit: Visit }

/** The plan of a request to a site that has more than files. */
export type Visit = {
  /** The rule that takes the request. */
  rule: SiteRule | undefined
  /** The variant chosen by the traffic split. */
  variant: Variant | undefined
  facts: RequestFacts
  /** The caller; only determined if the response depends on it. */
  callerOf: () => Caller
  allowSilence?: ((isAllowed: boolean) => void) | undefined
  upgrade?: Upgrade | undefined
  trace?: Trace | undefined
}

/**
 * Checks visibility and the gate, then serves the rule or the file. A rejection does not reveal the variant. contract
 * §1 Hosts.
 */
export function serveSite(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: PlannedRequest,
): Response | Promise<Response> {
  const { request, visit } = asked
  const refusal = site.visibility.isPublic
    ? undefined
    : refuseView(ctx, pages, site, { request, caller: visit.callerOf() })
  traceView(site, visit, refusal)
  if (refusal !== undefined) return refusal
  const answer = serveChosen(ctx, pages, site, asked)
  const { variant } = visit
  if (variant === undefined && site.visibility.isPublic) return answer
  const marked = (response: Response): Response => {
    if (!site.visibility.isPublic) keepFromOthers(response.headers)
    return variant === undefined ? response : markVariant(response, variant)
  }
  return answer instanceof Response ? marked(answer) : answer.then(marked)
}

/** A rule's response on a private site is not for pages of other sites, unless a backend says so. */
function keepFromOthers(headers: Headers): void {
  const name = 'cross-origin-resource-policy'
  if (!headers.has(name)) headers.set(name, 'same-origin')
}

function traceView({ visibility }: Site, { trace }: Visit, refusal: Response | undefined): void {
  if (trace === undefined) return
  const { isPublic, requiredRole, setBy } = visibility
  const what = isPublic ? 'The site is public' : `The site is private and needs the role ${requiredRole}`
  const by = [...new Set(isPublic ? [setBy.isPublic] : [setBy.isPublic, setBy.requiredRole])]
  trace.add('visibility', `${what}, as set by the ${by.join(' and the ')}`, { ...visibility })
  if (isPublic) trace.add('gate', 'Everybody may see it')
  else if (refusal === undefined) trace.add('gate', 'The visitor may see it')
  else trace.add('gate', `The visitor may not see it: ${refusal.status}`, { status: refusal.status })
}

/** Serves the file, or the response of the rule that takes the request. */
function serveChosen(
  ctx: Context,
  pages: SitePages,
  site: Site,
  asked: PlannedRequest,
): Response | Promise<Response> {
  const { request, path, plain, search, visit } = asked
  const { rule, facts, callerOf, allowSilence, upgrade, trace } = visit
  switch (rule?.record.proxyType) {
    case undefined:
      return serveAsset(ctx, pages, site, asked)
    case 'internal_rewrite':
      return serveAsset(ctx, pages, site, { ...asked, plain: rewritten(rule, plain) }, true)
    case 'pipeline': {
      if (trace !== undefined) return explainPipeline(ctx, rule.pipeline(), callerOf(), trace)
      const { isBehindProxy } = facts
      const asker = { request, path, search, caller: callerOf(), allowSilence, isBehindProxy }
      return servePipeline(ctx, { site, rule: rule.pipeline(), ...asker })
    }
    case 'external_proxy': {
      const proxied = { request, path, search, facts, allowSilence, upgrade, trace }
      return isWebSocket(request) && trace === undefined
        ? serveWebSocket(ctx, site, rule, proxied)
        : serveProxy(ctx, site, rule, proxied)
    }
  }
}

/**
 * A target that ends in `/` is followed by what the star of a `/x/*` pattern matched; for `*`, without its `/`.
 * contract §8.
 */
function rewritten({ record, pattern }: SiteRule, plain: string): string {
  const target = plainPath(record.targetUrl)
  const rest = pattern.kind === 'prefix' ? plain.slice(pattern.literal.length).replace(/^\//, '') : ''
  return target.endsWith('/') ? `${target}${rest}` : target
}
