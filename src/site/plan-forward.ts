import { type HeaderPair, requestHeadersToForward } from '../domain/forward-headers.ts'
import type { Arrival } from '../http/arrival.ts'
import { type Backend, type RuleTarget, restOfPath } from './site-rules.ts'
import type { Visitor } from './visit.ts'

/** Where a request goes, and its headers. `target` is path and query, byte for byte as the visitor sent them. */
export type ForwardPlan = { url: URL; target: string; headers: HeaderPair[] }

/** Plans what is sent to the backend for a request that `rule` takes. contract §8. */
export function planForward(rule: Backend, to: RuleTarget, { arrival, facts }: Visitor): ForwardPlan {
  const { forwardCookies, preserveHost } = rule.record
  return {
    url: to.url,
    target: targetOf(rule, to, arrival),
    headers: requestHeadersToForward(arrival.request.headers, {
      config: rule.headerConfig(),
      forwardCookies,
      preserveHost,
      peerAddress: facts.peerAddress,
      isTrustedPeer: facts.isBehindProxy,
      trustedXff: facts.forwardedFor,
      proto: facts.isSecure ? 'https' : 'http',
      host: facts.hostWithPort,
    }),
  }
}

/**
 * The target's path followed by the rest of the visitor's, and both queries. If no path is left, the target itself is
 * called.
 */
function targetOf(rule: Backend, to: RuleTarget, { path, search }: Arrival): string {
  if (rule.wholeTarget !== undefined) return rule.wholeTarget
  const rest = restOfPath(rule, path)
  const query = joinQueries(to.search, search)
  if (rest === '') return `${to.pathname}${query}`
  return `${to.base}${rest.startsWith('/') ? '' : '/'}${rest}${query}`
}

function joinQueries(ofTarget: string, ofVisitor: string): string {
  if (ofTarget === '') return ofVisitor
  return ofVisitor.length > 1 ? `${ofTarget}&${ofVisitor.slice(1)}` : ofTarget
}
