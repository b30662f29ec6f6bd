import type { Context } from '../context.ts'
import type { Result } from '../domain/routing/target.ts'
import { isWebSocket } from '../http/join-sockets.ts'
import { onlyOnPrimary } from './only-on-primary.ts'
import { serveProxy } from './serve-proxy.ts'
import { serveWebSocket } from './serve-websocket.ts'
import type { Site } from './site.ts'
import { type Backend, targetAt } from './site-rules.ts'
import type { Visit } from './visit.ts'

/** Sends a request to the address of a 200 line, as a rule with its defaults would. contract 13 §2. */
export function proxyLine(
  ctx: Context,
  site: Site,
  result: Result,
  visit: Visit,
): Response | Promise<Response> {
  onlyOnPrimary(ctx)
  const backend = backendAt(result)
  return isWebSocket(visit.arrival.request) && visit.trace === undefined
    ? serveWebSocket(ctx, site, backend, visit)
    : serveProxy(ctx, site, backend, visit)
}

const AS_BY_DEFAULT = { id: '_redirects', timeoutMs: 30_000, forwardCookies: false, preserveHost: false }

function backendAt({ origin, path, search }: Result): Backend {
  const target = targetAt(new URL(`${origin}${path}${search}`))
  return {
    record: AS_BY_DEFAULT,
    prefix: '',
    target,
    wholeTarget: `${target.pathname}${target.search}`,
    headerConfig: () => null,
  }
}
