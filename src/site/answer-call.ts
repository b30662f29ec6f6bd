import type { Context } from '../context.ts'
import { Arrival } from '../http/arrival.ts'
import { recordFacts } from '../http/request-facts.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import type { SiteAnswer, SiteCall } from '../pipelines/runner.ts'
import { chooseRule } from './choose-rule.ts'
import { routedVisit } from './routed-visit.ts'
import { servePipeline } from './serve-pipeline.ts'
import { servesTools } from './serves-tools.ts'
import type { Site } from './site.ts'
import type { Visit } from './visit.ts'

/**
 * Answers a call that a step of the site makes for its visitor: by the rule that answers it for everybody, as the same
 * caller, with all that the rule asks of a request. contract 14.5.
 */
export async function answerCall(
  ctx: Context,
  site: Site,
  visit: Visit,
  call: SiteCall,
): Promise<SiteAnswer> {
  const arrival = arrivalOf(ctx, visit.arrival, call)
  const rule = pipelineAt(ctx, site, visit, arrival)
  if (typeof rule === 'string') return { unanswered: rule }
  recordFacts(arrival, visit.facts)
  const json = JSON.stringify(call.args)
  const response = await servePipeline(ctx, {
    arrival,
    site,
    rule,
    caller: visit.callerOf(),
    body:
      call.method === 'GET'
        ? { body: { kind: 'none' } }
        : { body: { kind: 'json', value: JSON.parse(json) }, rawBody: () => json },
    trigger: 'mcp',
  })
  return { response }
}

/** The pipeline that answers, or why none does. */
function pipelineAt(ctx: Context, site: Site, visit: Visit, arrival: Arrival): PipelineRule | string {
  const asked = `${arrival.method} ${arrival.path}`
  const none = `No rule of the site answers ${asked}`
  if (/^\/(?:_svc|api\/auth)\//.test(arrival.plain)) return none
  if (site.hasRouting && routedVisit(ctx, site, { ...visit, arrival })?.redirect() !== undefined) return none
  const rule = chooseRule(site.rules, arrival)
  if (rule === undefined) return none
  if (rule.record.proxyType !== 'pipeline') return `What answers ${asked} is no pipeline`
  const pipeline = rule.pipeline()
  return servesTools(pipeline) ? `What answers ${asked} serves tools itself` : pipeline
}

/** The same sender on the same connection, whose own request goes on: its silence is not ours to allow. */
function arrivalOf(ctx: Context, from: Arrival, { method, path, args }: SiteCall): Arrival {
  const { request, mount, peer } = from
  const url = new URL(`${mount}${path}`, new URL(request.url).origin)
  if (method === 'GET') url.search = new URLSearchParams(Object.entries(args).flatMap(pairs)).toString()
  const headers = new Headers(request.headers)
  for (const name of [...headers.keys()]) if (OF_THE_MESSAGE.test(name)) headers.delete(name)
  if (method === 'POST') headers.set('content-type', 'application/json')
  const { address, shownHost, sender, machine } = peer
  const called = new Request(url, { method, headers, signal: request.signal })
  return new Arrival(ctx.config, called, { address, shownHost, sender, machine }, mount)
}

const OF_THE_MESSAGE = /^(?:content-|transfer-encoding$|expect$|accept$|mcp-)/

/** A list is sent as several values of one name; what is absent is left out. */
const pairs = ([name, value]: [string, unknown]): [string, string][] =>
  [value]
    .flat()
    .filter((one) => one !== null && one !== undefined)
    .map((one) => [name, typeof one === 'object' ? JSON.stringify(one) : String(one)])
