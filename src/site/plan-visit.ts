import type { Caller, Context, RequestFacts } from '../context.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { chooseRule } from './choose-rule.ts'
import { nobody } from './nobody.ts'
import type { Site } from './resolve-site.ts'
import type { Visit } from './serve-site.ts'
import type { Upgrade } from './serve-websocket.ts'
import type { Trace } from './trace.ts'
import { chooseVariant } from './traffic.ts'

/** The part of the connection that proxied requests need. */
type Connection = { allowSilence?(isAllowed: boolean): void; upgrade?: Upgrade }

export type VisitInput = {
  request: Request
  /** The raw path within the site, for backends. */
  path: string
  /** Its plain form, which decides. */
  plain: string
  facts: RequestFacts
  callerOf: () => Caller
  peer: Connection
  trace?: Trace | undefined
}

/** What answers on a site host: the service, for its own paths and for API routes that no rule takes, or the site. */
type Way = { to: 'service' } | { to: 'site'; shown: Site; visit: Visit }

/**
 * contract §1 Hosts: the order on a site host. The gate comes later, because each variant and rule may require more.
 */
export function chooseWay(
  ctx: Context,
  site: Site,
  isApiRoute: (path: string) => boolean,
  input: VisitInput,
): Way {
  const { plain, trace } = input
  if (plain.startsWith('/_svc/') || (plain.startsWith('/api/auth/') && isApiRoute(plain))) {
    trace?.add('api', 'This path belongs to the service on every host')
    return { to: 'service' }
  }
  const { shown, visit } = planVisit(ctx, site, input)
  if (visit.rule !== undefined || !isApiRoute(plain)) return { to: 'site', shown, visit }
  trace?.add('api', 'No rule takes the path, and it is an API route')
  return { to: 'service' }
}

/**
 * Chooses the site that a visitor sees and the rule that takes the request. Traffic comes first, because each alias has
 * its own rules.
 */
export function planVisit(ctx: Context, site: Site, input: VisitInput): { shown: Site; visit: Visit } {
  const { request, plain, facts, callerOf, peer, trace } = input
  const variant = site.split === null ? undefined : chooseVariant(ctx, site, site.split, input)
  const shown = variant?.site ?? site
  const rule = shown.rules.length === 0 ? undefined : chooseRule(shown.rules, request.method, plain, trace)
  return {
    shown,
    visit: {
      rule,
      variant,
      facts,
      // Lazy: few requests need it, so most avoid reading two headers.
      callerOf: () => (isPartOfAnother(request) ? nobody(callerOf()) : callerOf()),
      allowSilence: (isAllowed) => peer.allowSilence?.(isAllowed),
      upgrade:
        peer.upgrade === undefined ? undefined : (headers, owner) => peer.upgrade?.(headers, owner) ?? false,
      trace,
    },
  }
}
