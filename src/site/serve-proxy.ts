import type { Context } from '../context.ts'
import { privateCacheControl } from '../domain/cache-control.ts'
import { MINUTE_MS } from '../domain/durations.ts'
import { AppError } from '../domain/errors.ts'
import { isEventStream } from '../domain/event-stream.ts'
import { type HeaderPair, responseHeadersToForward } from '../domain/forward-headers.ts'
import { isApiOfOriginal } from '../domain/target-shape.ts'
import { errorResponse } from '../http/error-response.ts'
import { headersOfHead, relayed, Silence } from '../http/relayed.ts'
import { OutboundError, toAppError } from '../platform/outbound/error.ts'
import { leave } from '../platform/outbound/read.ts'
import type { OutboundResponse } from '../platform/outbound.ts'
import { type ForwardPlan, planForward } from './plan-forward.ts'
import type { Site } from './site.ts'
import type { Backend, SiteRule } from './site-rules.ts'
import type { Trace } from './trace.ts'
import type { Visitor } from './visit.ts'

/** For event streams and WebSockets. contract §8. */
export const LONG_SILENCE_MS = 5 * MINUTE_MS

/** One exchange with a backend. */
type Forwarding = {
  ctx: Context
  site: Site
  rule: Backend
  plan: ForwardPlan
  method: string
  silence: Silence
}

/**
 * Forwards to the rule's backend and streams its response back. A 5xx from the backend becomes 502 with its status in
 * `X-Upstream-Status`. An unreachable or slow backend becomes 502 or 504 with the reason. Never rejects.
 */
export function serveProxy(
  ctx: Context,
  site: Site,
  rule: Backend,
  visitor: Visitor,
): Response | Promise<Response> {
  const { target } = rule
  if (target === null) return noTarget()
  const { arrival, trace } = visitor
  const { request, peer } = arrival
  try {
    const plan = planForward(rule, target, visitor)
    if (trace !== undefined) return explainPlan(trace, plan, rule)
    const silence = new Silence((isAllowed) => peer.allowSilence?.(isAllowed))
    return forward({ ctx, site, rule, plan, method: request.method, silence }, request)
  } catch (error) {
    return failureResponse(ctx, rule, error)
  }
}

/** Not an async function, which would add promises to every response. */
function forward(forwarding: Forwarding, request: Request): Promise<Response> {
  const { ctx, rule, plan, method, silence } = forwarding
  const { timeoutMs } = rule.record
  const ended = (error: unknown): Response => {
    silence.end()
    return failureResponse(ctx, rule, error)
  }
  const arrived = (answer: OutboundResponse): Response => {
    try {
      return relayOrRefuse(forwarding, answer)
    } catch (error) {
      return ended(error)
    }
  }
  const answer = ctx.outbound.request(plan.url, {
    method,
    headers: plan.headers,
    body: request.body,
    target: plan.target,
    headTimeoutMs: timeoutMs,
    idleTimeoutMs: (_, headers) => (isEventStream(headers) ? LONG_SILENCE_MS : timeoutMs),
    signal() {
      silence.begin()
      return request.signal
    },
  })
  return answer.then(arrived, ended)
}

/** Relays 1xx to 4xx; a 5xx means that the backend failed. */
export function relayOrRefuse(forwarding: Forwarding, answer: OutboundResponse): Response {
  if (answer.status < 500) return relay(forwarding, answer)
  forwarding.silence.end()
  return backendErrorResponse(forwarding, answer)
}

/** Relays the backend's response, without what belongs to its own connection. */
function relay(forwarding: Forwarding, answer: OutboundResponse): Response {
  const { ctx, site, rule, method, silence } = forwarding
  const headers =
    method === 'HEAD' ? headersOfHead(relayedHeaders(site, answer.headers)) : knownHeaders(site, answer)
  const broken = (error: unknown) => noteFailure(ctx, rule, error)
  return relayed(method, answer, headers, { silence, broken })
}

const PREPARED = {
  shared: new WeakMap<readonly HeaderPair[], Headers>(),
  own: new WeakMap<readonly HeaderPair[], Headers>(),
}

/** Converts a repeated head only once; a `Response` copies the headers. */
function knownHeaders(site: Site, { headers, isKnownHead }: OutboundResponse): Headers {
  if (isKnownHead !== true) return relayedHeaders(site, headers)
  const prepared = site.isShared ? PREPARED.shared : PREPARED.own
  const found = prepared.get(headers)
  if (found !== undefined) return found
  const made = relayedHeaders(site, headers)
  prepared.set(headers, made)
  return made
}

/** The backend's headers for the visitor. Responses that depend on the visitor are kept out of shared caches. */
export function relayedHeaders(site: Site, pairs: readonly HeaderPair[]): Headers {
  const headers = new Headers()
  for (const [name, value] of responseHeadersToForward(pairs)) headers.append(name, value)
  if (!site.isShared) keepPrivate(headers)
  if (isEventStream(pairs) && !headers.has(UNBUFFERED)) headers.set(UNBUFFERED, 'no')
  return headers
}

/** Otherwise nginx in front would buffer events until it has a few KiB. */
const UNBUFFERED = 'x-accel-buffering'

/** Drops `public` and lifetimes for shared caches: a cache unknown to us must not serve the response to others. */
function keepPrivate(headers: Headers): void {
  headers.set('cache-control', privateCacheControl(headers.get('cache-control') ?? ''))
  headers.append('vary', 'Cookie')
}

/** spec: Proxy behaviour 8, as read in contract §8: a 5xx from the backend is "returning an error". */
function backendErrorResponse({ ctx, rule, plan }: Forwarding, { body, status }: OutboundResponse): Response {
  void leave({ body })
  ctx.log.warn('a backend returned an error', { rule: rule.record.id, backend: plan.url.host, status })
  return errorResponse(
    new AppError('bad_gateway', `The backend ${plan.url.host} was reached, but returned ${status}`, {
      headers: { 'x-upstream-status': String(status) },
    }),
  )
}

/**
 * The response when the backend did not respond: says which side failed and why. If the visitor left, nobody is to
 * blame.
 */
export function failureResponse(ctx: Context, rule: Backend, error: unknown): Response {
  if (error instanceof AppError) return errorResponse(error)
  if (!(error instanceof OutboundError)) {
    ctx.log.error('a request could not be forwarded', { rule: rule.record.id, error })
    return errorResponse(new AppError('bad_gateway', 'The request could not be forwarded to the backend'))
  }
  noteFailure(ctx, rule, error)
  return rule.target === null ? noTarget() : errorResponse(toAppError(error, rule.target.url))
}

function noteFailure(ctx: Context, rule: Backend, error: unknown): void {
  const { kind, message } =
    error instanceof OutboundError ? error : { kind: 'unknown', message: String(error) }
  if (kind !== 'aborted')
    ctx.log.warn('a backend did not send a complete response', {
      rule: rule.record.id,
      kind,
      reason: message,
    })
}

export const noTarget = (): Response =>
  errorResponse(new AppError('bad_gateway', 'The rule for this path has no target that can be called'))

/** Answers for a rule whose target is never called. */
export function refuseTarget({ target, record }: SiteRule, trace: Trace | undefined): Response | undefined {
  const { targetUrl } = record
  if (target !== null || !isApiOfOriginal(targetUrl)) return undefined
  const message = `The rule for this path calls ${targetUrl}, the API of another server, which is not here: nothing was sent`
  trace?.add('forward', message, { status: 501 })
  return errorResponse(new AppError('not_implemented', message))
}

/** Header values added by a rule are secrets of the project, so only their names are shown. */
function explainPlan(trace: Trace, { url, target, headers }: ForwardPlan, rule: Backend): Response {
  const added = new Set(Object.keys(rule.headerConfig()?.add ?? {}).map((name) => name.toLowerCase()))
  trace.add('forward', `The request goes to ${url.origin}${target}`, {
    url: `${url.origin}${target}`,
    timeout: rule.record.timeoutMs,
    headers: Object.fromEntries(
      headers.map(([name, value]) => [name, added.has(name) ? '[redacted]' : value]),
    ),
  })
  return new Response(null, { status: 200 })
}
