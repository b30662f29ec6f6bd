import type { Context } from '../context.ts'
import { plainPath } from '../domain/plain-path.ts'
import { isWebSocket } from '../http/join-sockets.ts'
import type { SiteCall } from '../pipelines/runner.ts'
import { withContents } from '../platform/blob-store.ts'
import { answerCall } from './answer-call.ts'
import { refuseView } from './gate.ts'
import { keepFromOthers } from './keep-from-others.ts'
import { onlyOnPrimary } from './only-on-primary.ts'
import type { SitePages } from './pages.ts'
import { redirectByRule } from './redirect-to.ts'
import { serveAsset } from './serve-asset.ts'
import { serveByLines, serveLine } from './serve-line.ts'
import { explainPipeline, servePipeline } from './serve-pipeline.ts'
import { refuseTarget, serveProxy } from './serve-proxy.ts'
import { serveWebSocket } from './serve-websocket.ts'
import type { Site } from './site.ts'
import type { SiteRule } from './site-rules.ts'
import { markVariant } from './traffic.ts'
import type { Visit } from './visit.ts'

/**
 * Checks visibility and the gate, then serves the rule or the file. A rejection does not reveal the variant. contract
 * §1 Hosts.
 */
export function serveSite(
  ctx: Context,
  pages: SitePages,
  site: Site,
  visit: Visit,
): Response | Promise<Response> {
  const { arrival, variant, routes } = visit
  const isOpen = site.visibility.isPublic || visit.forAll !== undefined
  const refusal = isOpen ? undefined : refuseView(ctx, pages, site, { arrival, caller: visit.callerOf() })
  traceView(site, visit, refusal)
  if (refusal !== undefined) return refusal
  const answer = withContents(ctx, () => serveChosen(ctx, pages, site, visit))
  routes?.traceRest()
  if (variant === undefined && routes === undefined && isOpen) return answer
  const marked = (response: Response): Response => {
    if (!isOpen) keepFromOthers(response.headers)
    routes?.vary(response)
    return variant === undefined ? response : markVariant(response, variant)
  }
  return answer instanceof Response ? marked(answer) : answer.then(marked)
}

function traceView({ visibility }: Site, { trace, forAll }: Visit, refusal: Response | undefined): void {
  if (trace === undefined) return
  if (forAll !== undefined) {
    trace.add('visibility', 'Everybody may read this, whoever may see the site')
    return
  }
  const { isPublic, requiredRole, setBy } = visibility
  const what = isPublic ? 'The site is public' : `The site is private and needs the role ${requiredRole}`
  const by = [...new Set(isPublic ? [setBy.isPublic] : [setBy.isPublic, setBy.requiredRole])]
  trace.add('visibility', `${what}, as set by the ${by.join(' and the ')}`, { ...visibility })
  if (isPublic) trace.add('gate', 'Everybody may see it')
  else if (refusal === undefined) trace.add('gate', 'The visitor may see it')
  else trace.add('gate', `The visitor may not see it: ${refusal.status}`, { status: refusal.status })
}

/** Serves the file, or the response of the rule that takes the request. */
function serveChosen(ctx: Context, pages: SitePages, site: Site, visit: Visit): Response | Promise<Response> {
  const { arrival, rule, forAll, callerOf, trace, line, routes } = visit
  if (line !== undefined && routes !== undefined) return serveLine(ctx, pages, site, visit, { line, routes })
  const isConditional = () => routes?.isConditional ?? false
  switch (rule?.record.proxyType) {
    case undefined:
      return routes === undefined
        ? serveAsset(ctx, pages, site, { arrival, visit })
        : serveByLines(ctx, pages, site, visit, routes)
    case 'internal_rewrite':
      return serveAsset(ctx, pages, site, {
        arrival,
        visit,
        rewritten: rewritten(rule, arrival.plain),
        isConditional: isConditional(),
      })
    case 'redirect':
      return redirectByRule(site, rule.redirect, arrival, isConditional())
    case 'pipeline': {
      onlyOnPrimary(ctx)
      const pipeline = forAll ?? rule.pipeline()
      const askSite = (call: SiteCall) => answerCall(ctx, site, visit, call)
      return trace === undefined
        ? servePipeline(ctx, { arrival, site, rule: pipeline, caller: callerOf(), askSite })
        : explainPipeline(ctx, pipeline, callerOf(), trace)
    }
    case 'external_proxy':
      onlyOnPrimary(ctx)
      return refuseTarget(rule, trace) ?? forwarded(ctx, site, rule, visit)
  }
}

const forwarded = (ctx: Context, site: Site, rule: SiteRule, visit: Visit): Response | Promise<Response> =>
  isWebSocket(visit.arrival.request) && visit.trace === undefined
    ? serveWebSocket(ctx, site, rule, visit)
    : serveProxy(ctx, site, rule, visit)

/**
 * A target that ends in `/` is followed by what the star of a `/x/*` pattern matched; for `*`, without its `/`.
 * contract §8.
 */
function rewritten({ record, pattern }: SiteRule, plain: string): string {
  const target = plainPath(record.targetUrl)
  const rest = pattern.kind === 'prefix' ? plain.slice(pattern.literal.length).replace(/^\//, '') : ''
  return target.endsWith('/') ? `${target}${rest}` : target
}
