import type { Context } from '../context.ts'
import type { Result } from '../domain/routing/target.ts'
import { serveProxy } from './serve-proxy.ts'
import { isWebSocket, serveWebSocket } from './serve-websocket.ts'
import type { Site } from './site.ts'
import type { SiteRule } from './site-rules.ts'
import type { Visit } from './visit.ts'

const TIMEOUT_MS = 30_000

/** Sends a request to the address of a 200 line, as a rule with its defaults would. contract 13 §2. */
export function proxyLine(
  ctx: Context,
  site: Site,
  result: Result,
  visit: Visit,
): Response | Promise<Response> {
  const rule = ruleFor(site, result)
  return isWebSocket(visit.arrival.request) && visit.trace === undefined
    ? serveWebSocket(ctx, site, rule, visit)
    : serveProxy(ctx, site, rule, visit)
}

function ruleFor({ project }: Site, { origin, path, search }: Result): SiteRule {
  const url = new URL(`${origin}${path}${search}`)
  return {
    record: {
      id: '_redirects',
      projectId: project.id,
      aliasId: null,
      ruleSetId: null,
      pathPattern: '',
      method: null,
      methods: null,
      order: 0,
      proxyType: 'external_proxy',
      targetUrl: url.href,
      stripPrefix: false,
      timeoutMs: TIMEOUT_MS,
      forwardCookies: false,
      preserveHost: false,
      headerConfig: null,
      pipelineConfig: null,
      isEnabled: true,
      debugEnabled: false,
      description: null,
      createdAt: 0,
      updatedAt: 0,
      isWrittenByAdmin: false,
      status: null,
      origin: null,
    },
    level: 'project',
    pattern: { kind: 'prefix', literal: '' },
    prefix: '',
    methods: null,
    target: { url, pathname: url.pathname, base: url.pathname, search: url.search },
    wholeTarget: `${url.pathname}${url.search}`,
    redirect: null,
    pipeline: () => {
      throw new TypeError('a line has no pipeline')
    },
    headerConfig: () => null,
  }
}
