import type { Context } from '../context.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { chooseRule } from './choose-rule.ts'
import { nobody } from './nobody.ts'
import { describedAt } from './protected-resource.ts'
import { routedVisit } from './routed-visit.ts'
import type { Site } from './site.ts'
import { chooseVariant } from './traffic.ts'
import type { Visit, Visitor } from './visit.ts'

/** What answers on a site host: the service, for its own paths and for API routes that no rule takes, or the site. */
type Way = { to: 'service' } | { to: 'site'; shown: Site; visit: Visit }

/**
 * contract §1 Hosts: the order on a site host. The gate comes later, because each variant and rule may require more.
 */
export function chooseWay(
  ctx: Context,
  site: Site,
  isApiRoute: (path: string) => boolean,
  visitor: Visitor,
): Way {
  const { trace } = visitor
  const { plain } = visitor.arrival
  if (plain.startsWith('/_svc/') || (plain.startsWith('/api/auth/') && isApiRoute(plain))) {
    trace?.add('api', 'This path belongs to the service on every host')
    return { to: 'service' }
  }
  const { shown, visit } = planVisit(ctx, site, visitor)
  if (visit.rule !== undefined || visit.line !== undefined || !isApiRoute(plain))
    return { to: 'site', shown, visit }
  const line = visit.routes?.proxied()
  if (line !== undefined) return { to: 'site', shown, visit: { ...visit, line } }
  visit.routes?.traceRest()
  trace?.add('api', 'No rule takes the path, and it is an API route')
  return { to: 'service' }
}

/**
 * Chooses the site that a visitor sees and the rule that takes the request. Traffic comes first, because each alias has
 * its own rules.
 */
export function planVisit(ctx: Context, site: Site, visitor: Visitor): { shown: Site; visit: Visit } {
  const { arrival, callerOf, trace } = visitor
  const variant = site.split === null ? undefined : chooseVariant(ctx, site, site.split, visitor)
  const shown = variant?.site ?? site
  // Lazy: few requests need it, so most avoid reading two headers.
  const callerHere = () => (isPartOfAnother(arrival.request) ? nobody(callerOf()) : callerOf())
  const here = { ...visitor, callerOf: callerHere, variant }
  const routes = shown.hasRouting ? routedVisit(ctx, shown, here) : undefined
  const line = routes?.redirect()
  const hasRules = line === undefined && shown.rules.length > 0
  const described = hasRules ? describedAt(shown.rules, arrival) : undefined
  if (described !== undefined) {
    trace?.rule(described.siteRule, null)
    return { shown, visit: { ...here, routes, line, rule: described.siteRule, forAll: described.rule } }
  }
  const rule = hasRules ? chooseRule(shown.rules, arrival, trace) : undefined
  return { shown, visit: { ...here, routes, line, rule } }
}
