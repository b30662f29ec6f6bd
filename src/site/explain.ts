import type { Caller, Context, RequestFacts } from '../context.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { plainPath } from '../domain/plain-path.ts'
import { findMapping } from './domain-queries.ts'
import type { SitePages } from './pages.ts'
import { projectOfPathForm } from './parse-path-form.ts'
import { servePathForm } from './path-forms.ts'
import { chooseWay, type VisitInput } from './plan-visit.ts'
import { resolveHost, type Site } from './resolve-site.ts'
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
 * `kind` says what would answer: `answer` is the actual response, with status and headers; a `forward` goes to a
 * backend, a `pipeline` would run, and the `service` handles its own paths.
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
    /** The URL that a `forward` goes to. */
    target: string | null
  }
}

type Endpoints = { pages: SitePages; isApiRoute: (path: string) => boolean }

/** The project that a URL belongs to; null if none. */
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
 * Explains step by step why a request gets its response, using the code that serves it. Calls no backend and runs no
 * pipeline.
 */
export async function explain(ctx: Context, endpoints: Endpoints, input: ExplainInput): Promise<Explanation> {
  const { url, method } = input
  const trace = createTrace()
  const answer = await answerAt(ctx, endpoints, input, trace)
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

type Told = Promise<Response | 'service' | 'nothing'>

async function answerAt(ctx: Context, endpoints: Endpoints, input: ExplainInput, trace: Trace): Told {
  const place = resolveHost(ctx, input.url.host)
  const host = hostOf(input)
  if (place === undefined) {
    trace.add('host', `Nothing lives at ${host}`)
    return 'nothing'
  }
  if (place.kind === 'site') return answerOfSite(ctx, endpoints, place, visitorOf(input, place, trace))
  if (place.kind === 'admin') {
    trace.add('host', `${host} is the admin host; the path names the site`)
    tracePath(trace, input.url.pathname)
    traceProject(trace, projectOfPathForm(ctx, input.url.pathname), null)
    return (await servePathForm(ctx, endpoints.pages, visitorOf(input, null, trace))) ?? 'service'
  }
  const what =
    place.kind === 'redirect' ? `It redirects to ${place.to}` : 'Its ownership has not been verified yet'
  trace.add('host', `${host} is a mapped domain. ${what}.`)
  return serveMapped(place, { path: input.url.pathname, search: input.url.search })
}

type Visitor = VisitInput & { search: string; trace: Trace }

async function answerOfSite(ctx: Context, endpoints: Endpoints, site: Site, visitor: Visitor): Told {
  const { request, path, plain, search, facts, trace } = visitor
  const shown = site.alias === null ? 'a deployment by its SHA' : `the alias ${site.alias.name}`
  trace.add('host', `${facts.host} shows ${shown}`)
  tracePath(trace, path)
  traceProject(trace, site.project, site)
  const way = chooseWay(ctx, site, endpoints.isApiRoute, visitor)
  if (way.to === 'service') return 'service'
  return serveSite(ctx, endpoints.pages, way.shown, {
    request,
    path,
    plain,
    search,
    mount: '',
    visit: way.visit,
  })
}

function visitorOf(input: ExplainInput, shown: Site | null, trace: Trace): Visitor {
  const { url, method, headers } = input
  const site = shown === null ? null : { projectId: shown.project.id, host: shown.host }
  return {
    request: new Request(url, { method, headers: withHost(headers, url.host) }),
    path: url.pathname,
    plain: plainPath(url.pathname),
    search: url.search,
    facts: factsOf(input, site),
    callerOf: () => input.caller(site),
    peer: {},
    trace,
  }
}

const hostOf = ({ url }: ExplainInput): string => normalizeHost(url.host) ?? url.host

/** The path that rules and files are compared with, if it was sent in another spelling. contract 12.13. */
function tracePath(trace: Trace, sent: string): void {
  const plain = plainPath(sent)
  if (plain !== sent) trace.add('path', `The path ${sent} stands for ${plain}`, { sent, plain })
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

function factsOf(input: ExplainInput, site: Caller['site']): RequestFacts {
  const { url } = input
  const { actor } = input.caller(site)
  const ip = actor.kind === 'operator' ? '' : actor.ip
  return {
    ip,
    isSecure: url.protocol === 'https:',
    host: hostOf(input),
    hostWithPort: url.host,
    site,
    peerAddress: ip,
    isBehindProxy: false,
    forwardedFor: null,
    isDirectLoopback: false,
  }
}
