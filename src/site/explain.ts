import type { Caller, Context } from '../context.ts'
import { normalizeHost } from '../domain/hostname.ts'
import { isoTime } from '../domain/iso-time.ts'
import { Arrival } from '../http/arrival.ts'
import { factsAbout } from '../http/request-facts.ts'
import { keysIn } from './cdn-mark.ts'
import { findMapping } from './domain-queries.ts'
import type { SitePages } from './pages.ts'
import { pathFormOf } from './parse-path-form.ts'
import { servePathForm } from './path-forms.ts'
import { chooseWay } from './plan-visit.ts'
import { resolveHost } from './resolve-site.ts'
import { serveMapped } from './serve-mapped.ts'
import { serveSite } from './serve-site.ts'
import type { Site } from './site.ts'
import { createTrace, type Trace, type TraceStep } from './trace.ts'
import type { Visitor } from './visit.ts'

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
  if (place.kind === 'admin') return pathFormOf(ctx, url.pathname)?.site.project.id ?? null
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
  if (shown !== null && ctx.config.cdnKind !== null) traceCdn(trace, shown.headers)
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

function traceCdn(trace: Trace, headers: Headers): void {
  const keys = keysIn(headers)
  const forHow = headers.get('cdn-cache-control') ?? headers.get('surrogate-control')
  if (keys.length === 0) trace.add('cdn', 'The CDN does not keep the answer', { keys })
  else trace.add('cdn', `The CDN keeps the answer (${forHow}) by the keys ${keys.join(' ')}`, { keys })
}

type Told = Promise<Response | 'service' | 'nothing'>

async function answerAt(ctx: Context, endpoints: Endpoints, input: ExplainInput, trace: Trace): Told {
  const arrival = arrivalOf(ctx, input)
  const place = resolveHost(ctx, arrival.hostHeader)
  const host = arrival.host ?? arrival.hostHeader
  if (place === undefined) {
    trace.add('host', `Nothing lives at ${host}`)
    return 'nothing'
  }
  if (place.kind === 'site')
    return answerOfSite(ctx, endpoints, place, visitorOf(input, arrival, place, trace))
  if (place.kind === 'admin') {
    const named = pathFormOf(ctx, arrival.path)?.site
    const what = named?.alias?.expiresAt ? shownText(named) : 'the site'
    trace.add('host', `${host} is the admin host; the path names ${what}`, named && endDetail(named))
    tracePath(trace, arrival)
    traceSite(trace, named)
    return (await servePathForm(ctx, endpoints.pages, visitorOf(input, arrival, null, trace))) ?? 'service'
  }
  const what =
    place.kind === 'redirect' ? `It redirects to ${place.to}` : 'Its ownership has not been verified yet'
  trace.add('host', `${host} is a mapped domain. ${what}.`)
  return serveMapped(place, arrival)
}

async function answerOfSite(ctx: Context, endpoints: Endpoints, site: Site, visitor: Traced): Told {
  const { arrival, facts, trace } = visitor
  trace.add('host', `${facts.host} shows ${shownText(site)}`, endDetail(site))
  tracePath(trace, arrival)
  traceSite(trace, site)
  const way = chooseWay(ctx, site, endpoints.isApiRoute, visitor)
  return way.to === 'service' ? 'service' : serveSite(ctx, endpoints.pages, way.shown, way.visit)
}

function shownText({ alias, endsAt }: Site): string {
  if (alias === null) return 'a deployment by its SHA'
  if (alias.expiresAt === null) return `the alias ${alias.name}`
  const ends =
    endsAt === null ? 'it is locked, so time does not end it' : `it ends at ${isoTime(alias.expiresAt)}`
  return `the preview ${alias.name}; ${ends}`
}

const endDetail = ({ alias }: Site): Record<string, unknown> | undefined =>
  alias?.expiresAt ? { expiresAt: isoTime(alias.expiresAt) } : undefined

/** The peer has no address: no header that a proxy might send is believed. */
function arrivalOf(ctx: Context, { url, method, headers }: ExplainInput): Arrival {
  const all = new Headers(headers)
  all.set('host', url.host)
  return new Arrival(ctx.config, new Request(url, { method, headers: all }), { address: '' })
}

type Traced = Visitor & { trace: Trace }

function visitorOf(input: ExplainInput, arrival: Arrival, shown: Site | null, trace: Trace): Traced {
  const site = shown === null ? null : { projectId: shown.project.id, host: shown.host }
  const { actor } = input.caller(site)
  const ip = actor.kind === 'operator' ? '' : actor.ip
  const facts = { ...factsAbout(arrival, site), ip, peerAddress: ip }
  return { arrival, facts, callerOf: () => input.caller(site), trace }
}

/** The path that rules and files are compared with, if it was sent in another spelling. contract 12.13. */
function tracePath(trace: Trace, { path, plain }: Arrival): void {
  if (plain !== path) trace.add('path', `The path ${path} stands for ${plain}`, { sent: path, plain })
}

function traceSite(trace: Trace, site: Site | undefined): void {
  if (site === undefined) return
  const { project, commitSha, version, deploymentId } = site
  trace.add(
    'project',
    `It belongs to the project ${project.owner}/${project.name}, whose version ${version} of ${commitSha.slice(0, 12)} it shows`,
    { id: project.id, commitSha, version, deploymentId },
  )
}
