import type { Context } from '../context.ts'
import { Arrival } from '../http/arrival.ts'
import { factsAbout } from '../http/request-facts.ts'
import type { AskableSite, Said } from '../modules/releases/site-port.ts'
import type { SitePages } from './pages.ts'
import { chooseWay } from './plan-visit.ts'
import { resolveAliasPath, resolveHost } from './resolve-site.ts'
import { serveSite } from './serve-site.ts'
import type { Site } from './site.ts'
import { createTrace } from './trace.ts'
import type { Visitor } from './visit.ts'

type Endpoints = { pages: SitePages; isApiRoute: (path: string) => boolean }

/** The site of an alias as it is now, see `askable`. */
export const askableAlias = (
  ctx: Context,
  endpoints: Endpoints,
  { owner, repo, name }: { owner: string; repo: string; name: string },
): AskableSite | undefined => askable(ctx, endpoints, resolveAliasPath(ctx, owner, repo, name))

/** The site that a host shows now, see `askable`. */
export function askableHost(ctx: Context, endpoints: Endpoints, host: string): AskableSite | undefined {
  const place = resolveHost(ctx, host)
  return askable(ctx, endpoints, place?.kind === 'site' ? place : undefined)
}

/**
 * A site by the code that serves, without visibility, traffic and earlier deployments. It stays what it is when the alias moves.
 * contract 13 §8.
 */
function askable(ctx: Context, endpoints: Endpoints, found: Site | undefined): AskableSite | undefined {
  if (found === undefined) return undefined
  const site = { ...found, alias: null, visibility: { ...found.visibility, isPublic: true } }
  return (path) => ask(ctx, endpoints, site, path)
}

async function ask(ctx: Context, endpoints: Endpoints, site: Site, path: string): Promise<Said> {
  const visitor = visitorOf(ctx, site, path)
  const way = chooseWay(ctx, site, endpoints.isApiRoute, visitor)
  if (way.to === 'service') return { kind: 'not_run', why: 'not run: the service answers this path itself' }
  const kind = way.visit.rule?.record.proxyType
  if (kind === 'pipeline' || kind === 'external_proxy') return notRun(kind)
  const response = await serveSite(ctx, endpoints.pages, way.shown, way.visit)
  if (!visitor.trace.steps.some(({ step }) => step === 'forward')) return { kind: 'answer', response }
  await response.body?.cancel()
  return notRun('external_proxy')
}

const notRun = (kind: 'pipeline' | 'external_proxy'): Said => ({
  kind: 'not_run',
  why: `not run: ${kind === 'pipeline' ? 'a pipeline' : 'a backend'} answers this path`,
})

/** Nobody who is known, without cookies, as a browser asks for a page. */
function visitorOf(
  ctx: Context,
  site: Site,
  path: string,
): Visitor & { trace: ReturnType<typeof createTrace> } {
  const url = new URL(`${ctx.siteUrl(site.host)}${path}`)
  const headers = { accept: 'text/html, */*;q=0.8', host: url.host }
  const arrival = new Arrival(ctx.config, new Request(url, { headers }), { address: '' })
  const place = { projectId: site.project.id, host: site.host }
  const nobody = { actor: { kind: 'anonymous', ip: '' } as const, site: place, refused: null }
  return { arrival, facts: factsAbout(arrival, place), callerOf: () => nobody, trace: createTrace() }
}
