import type { Caller, Context, RequestFacts } from '../context.ts'
import { isPartOfAnother } from '../http/part-of-another.ts'
import { chooseRule } from './choose-rule.ts'
import { nobody } from './nobody.ts'
import type { Site } from './resolve-site.ts'
import type { Visit } from './serve-site.ts'
import type { Upgrade } from './serve-websocket.ts'
import type { Trace } from './trace.ts'
import { chooseVariant } from './traffic.ts'

/** The socket behind a request, as far as a proxied one needs it. */
type Connection = { allowSilence?(isAllowed: boolean): void; upgrade?: Upgrade }

export type VisitInput = {
  request: Request
  /** Below the site, raw. */
  path: string
  facts: RequestFacts
  callerOf: () => Caller
  peer: Connection
  trace?: Trace | undefined
}

/** Who answers on a site host: the service for its own paths and for routes of the API that no rule takes, or the site. */
type Way = { to: 'service' } | { to: 'site'; shown: Site; visit: Visit }

/** contract §1 Hosts: the order on a site host. The gate comes later, as each variant and rule may ask for more. */
export function chooseWay(
  ctx: Context,
  site: Site,
  isApiRoute: (path: string) => boolean,
  input: VisitInput,
): Way {
  const { path, trace } = input
  if (path.startsWith('/_svc/') || (path.startsWith('/api/auth/') && isApiRoute(path))) {
    trace?.add('api', 'The path is one of the service itself on every host')
    return { to: 'service' }
  }
  const { shown, visit } = planVisit(ctx, site, input)
  if (visit.rule !== undefined || !isApiRoute(path)) return { to: 'site', shown, visit }
  trace?.add('api', 'No rule takes the path, and it is a route of the API')
  return { to: 'service' }
}

/** Which site a visitor is shown, and which rule of it takes the request: traffic first, as each alias has rules of its own. */
export function planVisit(ctx: Context, site: Site, input: VisitInput): { shown: Site; visit: Visit } {
  const { request, path, facts, callerOf, peer, trace } = input
  const variant = site.split === null ? undefined : chooseVariant(ctx, site, site.split, input)
  const shown = variant?.site ?? site
  const rule = shown.rules.length === 0 ? undefined : chooseRule(shown.rules, request.method, path, trace)
  return {
    shown,
    visit: {
      rule,
      variant,
      facts,
      // Few ask: not worth two headers a request.
      callerOf: () => (isPartOfAnother(request) ? nobody(callerOf()) : callerOf()),
      allowSilence: (isAllowed) => peer.allowSilence?.(isAllowed),
      upgrade:
        peer.upgrade === undefined ? undefined : (headers, owner) => peer.upgrade?.(headers, owner) ?? false,
      trace,
    },
  }
}
