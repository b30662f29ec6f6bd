import type { Context } from '../context.ts'
import { shipped } from '../db/shipped.ts'
import { hasSessionCookie } from '../domain/cookies.ts'
import { sentKey } from '../domain/key-header.ts'
import { joinSockets } from '../http/join-sockets.ts'
import { Silence } from '../http/relayed.ts'
import { refuseCrossOrigin } from '../http/same-origin.ts'
import { planForward } from './plan-forward.ts'
import { failureResponse, LONG_SILENCE_MS, noTarget, relayedHeaders, relayOrRefuse } from './serve-proxy.ts'
import type { Site } from './site.ts'
import type { Backend } from './site-rules.ts'
import type { Visitor } from './visit.ts'

/**
 * Opens a WebSocket to the backend, then the visitor's, and passes messages between them until one side ends. A
 * response other than 101 is relayed as in `serveProxy`. Never rejects.
 */
export async function serveWebSocket(
  ctx: Context,
  site: Site,
  rule: Backend,
  visitor: Visitor,
): Promise<Response> {
  const { target } = rule
  if (target === null) return noTarget()
  try {
    refuseForgery(site, visitor)
    const plan = planForward(rule, target, visitor)
    const { url, target: path, headers } = plan
    // No gate holds back the answer, and a session may have been renewed.
    await shipped(ctx)
    const forwarding = { ctx, site, rule, plan, method: 'GET', silence: new Silence(undefined) }
    const answer = await joinSockets(visitor.arrival, ctx.outbound, url, {
      headers,
      target: path,
      headTimeoutMs: rule.record.timeoutMs,
      idleTimeoutMs: LONG_SILENCE_MS,
      relayed: (pairs) => relayedHeaders(site, pairs),
    })
    return answer === null ? new Response(null) : relayOrRefuse(forwarding, answer)
  } catch (error) {
    return failureResponse(ctx, rule, error)
  }
}

/**
 * A page of another site under the workspace domain also sends the session of this site's visitors. A WebSocket that
 * relies on a session must therefore be opened by a page of this site. contract §2.
 */
function refuseForgery({ visibility }: Site, { arrival: { request }, facts }: Visitor): void {
  if (visibility.isPublic || sentKey(request.headers) !== null) return
  if (hasSessionCookie(request.headers.get('cookie'))) refuseCrossOrigin(request, facts.hostWithPort, true)
}
