import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/ip-ranges.ts'
import { isExplorerPath } from '../http/docs.ts'
import { errorResponse, toAppError } from '../http/error-response.ts'
import { skipBody } from '../http/held-body.ts'
import { createRateLimiter, type RateState, setRateHeaders } from '../http/rate-limit.ts'
import { asGet, factsOf } from '../http/request-facts.ts'
import { createRouteTable } from '../http/route-table.ts'
import { callerOf } from '../modules/auth/caller.ts'

/** The part of an Elysia app that the door needs. */
type Api = {
  handle(request: Request): Promise<Response>
  routes: readonly { method: string; path: string }[]
}

export type ApiDoor = {
  handle(request: Request, path: string): Promise<Response>
  /** Responds to a request rejected before its route: it gets the usual headers and counts towards the rate. */
  refuse(request: Request, path: string, error: unknown): Response
  isApiRoute(path: string): boolean
}

/** Uploads are counted per credential instead of per address. contract §5.2. */
const UPLOADS =
  /^(POST \/api\/(assets\/upload|deployments|deployments\/zip|deployments\/manifest)|PUT \/api\/deployments\/manifest\/[^/]+)\/?$/
const NOT_LIMITED = /^\/api\/health(\/primary)?\/?$/

/** Checks that apply to every API call: rate, method, headers. spec: Limits. */
export function createApiDoor(ctx: Context, api: Api): ApiDoor {
  const table = createRouteTable(api.routes)
  const byAddress = createRateLimiter(ctx.config.rateLimitApi, ctx.now)
  const byCredential = createRateLimiter(ctx.config.rateLimitUpload, ctx.now)

  const rateOf = (request: Request, path: string): RateState | undefined => {
    if (NOT_LIMITED.test(path)) return undefined
    const uploader = UPLOADS.test(`${request.method} ${path}`) ? uploaderOf(ctx, request) : undefined
    if (uploader !== undefined)
      return ctx.config.rateLimitUpload === 0 ? undefined : byCredential.take(uploader)
    return ctx.config.rateLimitApi === 0 ? undefined : byAddress.take(networkOf(factsOf(request).ip))
  }

  return {
    isApiRoute: (path) =>
      path.startsWith('/api/') && !isExplorerPath(path) && table.methodsOf(path).length > 0,
    async handle(request, path) {
      const rate = rateOf(request, path)
      if (rate?.isOver) return finished(tooMany(rate), rate)
      if (!isDecodable(path)) return finished(noSuchPath(), rate)
      return finished(await answerWith(ctx, api, table.methodsOf(path), request), rate)
    },
    refuse(request, path, error) {
      const rate = rateOf(request, path)
      return finished(rate?.isOver ? tooMany(rate) : errorResponse(toAppError(ctx, error, request)), rate)
    },
  }
}

function finished(answer: Response, rate: RateState | undefined): Response {
  if (rate !== undefined) setRateHeaders(answer.headers, rate)
  if (!answer.headers.has('cache-control')) answer.headers.set('cache-control', 'no-store')
  answer.headers.set('x-content-type-options', 'nosniff')
  return answer
}

/** Elysia passes undefined for a segment that cannot be decoded; such a path matches nothing. */
function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

const noSuchPath = (): Response =>
  errorResponse(new AppError('not_found', 'This path does not exist in the API'))

async function answerWith(
  ctx: Context,
  api: Api,
  methods: readonly string[],
  request: Request,
): Promise<Response> {
  const refusal = refuseMethod(request.method, methods)
  if (refusal !== undefined) return refusal
  try {
    // A GET that renews a session must wait for the end of a body too, although it reads none.
    if (request.method === 'GET') await skipBody(ctx, request)
    // For a HEAD the framework would read the body of the GET to its end, also one that never ends.
    return await api.handle(request.method === 'HEAD' ? asGet(request) : request)
  } catch (error) {
    return errorResponse(toAppError(ctx, error, request))
  }
}

/** Returns 405 for a known path, or the response to OPTIONS. RFC 9110 §9.3.7 and §15.5.6. */
function refuseMethod(method: string, methods: readonly string[]): Response | undefined {
  if (methods.length === 0 || methods.includes(method) || methods.includes('ALL')) return undefined
  if (method === 'HEAD' && methods.includes('GET')) return undefined
  const allow = [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
    .sort()
    .join(', ')
  if (method === 'OPTIONS') return new Response(null, { status: 204, headers: { allow } })
  return errorResponse(
    new AppError('method_not_allowed', `This path does not support ${method}, only ${allow}`, {
      headers: { allow },
    }),
  )
}

function tooMany(rate: RateState): Response {
  return errorResponse(
    new AppError(
      'rate_limited',
      `Too many requests: the limit is ${rate.limit} per minute. Try again in ${rate.retryAfterSeconds} s.`,
      {
        headers: { 'retry-after': String(rate.retryAfterSeconds) },
      },
    ),
  )
}

/** The uploader, if the request has a valid credential. Invalid ones count per address. */
function uploaderOf(ctx: Context, request: Request): string | undefined {
  try {
    const { actor } = callerOf(ctx, request)
    if (actor.kind === 'key') return `key ${actor.key.id}`
    return 'user' in actor ? `user ${actor.user.id}` : undefined
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
