import type { Caller, Context, RequestFacts } from '../context.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { findMapping } from './domain-queries.ts'
import type { SitePages } from './pages.ts'
import { projectOfPathForm } from './parse-path-form.ts'
import { servePathForm } from './path-forms.ts'
import { chooseWay } from './plan-visit.ts'
import { type Place, resolveHost, type Site } from './resolve-site.ts'
import { serveMapped } from './serve-mapped.ts'
import { serveSite } from './serve-site.ts'
import { createTrace, type Trace, type TraceStep } from './trace.ts'

type ExplainInput = {
  url: URL
  method: string
  headers: Headers
  caller: (place: Caller['site']) => Caller
}

/**
 * `kind` says who would answer: `answer` is the answer itself, with status and headers; a `forward` goes to a backend,
 * a `pipeline` would run, and the `service` answers its own paths.
 */
export type Explanation = {
  url: string
  method: string
  steps: TraceStep[]
  outcome: {
    kind: 'answer' | 'forward' | 'pipeline' | 'service' | 'nothing'
    status: number | null
    headers: Record<string, string>
    ruleId: string | null
    /** Of a `forward`: where it goes. */
    target: string | null
  }
}

type Rooms = { pages: SitePages; isApiRoute: (path: string) => boolean }

/** The project that an address belongs to; null when it belongs to none. */
export function projectOfUrl(ctx: Context, url: URL): string | null {
  const host = normalizeHost(url.host)
  const place = host === null ? undefined : resolveHost(ctx, url.host)
  if (place === undefined || host === null) return mappedProject(ctx, host)
  if (place.kind === 'admin') return projectOfPathForm(ctx, url.pathname)?.id ?? null
  return place.kind === 'site' ? place.project.id : mappedProject(ctx, host)
}

const mappedProject = (ctx: Context, host: string | null): string | null =>
  (host === null ? null : findMapping(ctx.db, host)?.projectId) ?? null

/**
 * Why a request gets the answer that it gets, step by step, told by the code that serves. No backend is called and no
 * pipeline runs.
 */
export async function explain(ctx: Context, rooms: Rooms, input: ExplainInput): Promise<Explanation> {
  const { url, method } = input
  const trace = createTrace()
  const place = resolveHost(ctx, url.host)
  const answer = await answerAt(ctx, rooms, input, place, trace)
  const last = trace.steps.findLast(({ step, detail }) => step === 'rule' && detail?.['matched'] === true)
  const sent = trace.steps.find(({ step }) => step === 'forward' || step === 'pipeline')
  const kind = answer === 'service' || answer === 'nothing' ? answer : (sent?.step ?? 'answer')
  const shown = kind === 'answer' && answer instanceof Response ? answer : null
  if (shown !== null) trace.add('answer', `The answer is ${shown.status}`, { status: shown.status })
  return {
    url: url.href,
    method,
    steps: trace.steps,
    outcome: {
      kind:
        kind === 'forward' || kind === 'pipeline' || kind === 'service' || kind === 'nothing'
          ? kind
          : 'answer',
      status: shown?.status ?? null,
      headers: shown === null ? {} : Object.fromEntries(shown.headers),
      ruleId: typeof last?.detail?.['id'] === 'string' ? last.detail['id'] : null,
      target: typeof sent?.detail?.['url'] === 'string' ? sent.detail['url'] : null,
    },
  }
}

async function answerAt(
  ctx: Context,
  rooms: Rooms,
  input: ExplainInput,
  place: Place | undefined,
  trace: Trace,
): Promise<Response | 'service' | 'nothing'> {
  const { url, method, headers } = input
  const host = normalizeHost(url.host) ?? url.host
  if (place === undefined) {
    trace.add('host', `Nothing lives at ${host}`)
    return 'nothing'
  }
  const path = url.pathname
  const { search } = url
  if (place.kind === 'redirect' || place.kind === 'unproven') {
    const what =
      place.kind === 'redirect' ? `It leads to ${place.to}` : 'Nobody has proven yet that it is theirs'
    trace.add('host', `${host} is a mapped domain. ${what}.`)
    return serveMapped(place, { path, search })
  }
  const request = new Request(url, { method, headers: withHost(headers, url.host) })
  const site = place.kind === 'site' ? { projectId: place.project.id, host: place.host } : null
  const facts = factsOf(input, host, site)
  const visitor = { request, path, facts, peer: {}, trace }
  if (place.kind === 'admin') {
    trace.add('host', `${host} is the admin host; the path names the site`)
    traceProject(trace, projectOfPathForm(ctx, path), null)
    return (
      (await servePathForm(ctx, rooms.pages, { ...visitor, search }, () => input.caller(null))) ?? 'service'
    )
  }
  trace.add(
    'host',
    `${host} shows ${place.alias === null ? 'a deployment by its SHA' : `the alias ${place.alias.name}`}`,
  )
  traceProject(trace, place.project, place)
  const way = chooseWay(ctx, place, rooms.isApiRoute, visitor)
  if (way.to === 'service') return 'service'
  const asked = { request, path, search, mount: '', visit: way.visit }
  return serveSite(ctx, rooms.pages, way.shown, asked, () => input.caller(site))
}

function traceProject(trace: Trace, project: Site['project'] | undefined, site: Site | null): void {
  if (project === undefined) return
  trace.add('project', `It belongs to the project ${project.owner}/${project.name}`, {
    id: project.id,
    ...(site === null ? {} : { commitSha: site.commitSha, deploymentId: site.deploymentId }),
  })
}

function withHost(headers: Headers, host: string): Headers {
  const all = new Headers(headers)
  all.set('host', host)
  return all
}

function factsOf({ url, caller }: ExplainInput, host: string, site: Caller['site']): RequestFacts {
  const { actor } = caller(site)
  const ip = actor.kind === 'operator' ? '' : actor.ip
  return {
    ip,
    isSecure: url.protocol === 'https:',
    host,
    hostWithPort: url.host,
    site,
    peerAddress: ip,
    forwardedFor: null,
    isDirectLoopback: false,
  }
}
