import type { Context } from '../../context.ts'
import type { LogSync } from '../../db/log-sync.ts'
import { countedApart } from '../../db/replication/awaited.ts'
import { AppError } from '../../domain/errors.ts'
import { isSafe } from '../../domain/safe-methods.ts'
import { storeUnreachable } from '../../domain/store-errors.ts'
import type { Arrival } from '../../http/arrival.ts'
import { keepFromCdn } from '../../site/cdn-mark.ts'
import { resolveHost } from '../../site/resolve-site.ts'
import { isOurs } from '../../site/serve-asset.ts'
import type { Answering } from '../front-door.ts'
import { loadEndpoints } from '../load-endpoints.ts'
import { writtenAtCookie } from '../machines/written-at.ts'

/**
 * No answer to a request during which something was written leaves before the object store has it; while that cannot be,
 * changes are refused before their body. contract 18 §4.
 */
export function behindGate(ctx: Context, answer: Answering): Answering {
  return (arrival) => {
    const { log } = ctx.db
    const refusal = isChange(ctx, arrival) ? log.refusal() : null
    if (refusal !== null) return refused(ctx, arrival, refusal)
    const { answered, hasWritten } = asked(log, arrival, answer)
    const passed = (response: Response) => (hasWritten() ? onceShipped(ctx, arrival, response) : response)
    return answered instanceof Response ? passed(answered) : answered.then(passed)
  }
}

/** A call that only reads answers for what it wrote itself; a change for whatever was written meanwhile, which costs it nothing. */
function asked(log: LogSync, arrival: Arrival, answer: Answering) {
  if (isSafe(arrival.method)) {
    const { result, count } = countedApart(() => answer(arrival))
    return { answered: result, hasWritten: () => count() > 0 }
  }
  const before = log.awaited
  return { answered: answer(arrival), hasWritten: () => log.awaited !== before }
}

/** A rule of a site decides for itself: what it passes on to a backend changes nothing here. */
function isChange(ctx: Context, { method, hostHeader, plain }: Arrival): boolean {
  return !isSafe(method) && (resolveHost(ctx, hostHeader)?.kind !== 'site' || isOurs(plain))
}

/** Only the head waits: a body goes on as it comes. */
async function onceShipped(ctx: Context, arrival: Arrival, response: Response): Promise<Response> {
  try {
    const refusal = ctx.db.log.refusal()
    if (refusal !== null) throw refusal
    await ctx.db.log.sync()
    return toldWhere(ctx, arrival, response)
  } catch (error) {
    void response.body?.cancel().catch(() => {})
    return refused(ctx, arrival, unconfirmed(ctx, error))
  }
}

/** Other machines may be behind what the visitor has done here. Nothing that shared caches may keep tells of it. */
function toldWhere(
  { config, machine }: Context,
  { method, isSecure }: Arrival,
  response: Response,
): Response {
  const { headers } = response
  if (config.nodeSecret === null || machine === null) return response
  if (isSafe(method) && /\bpublic\b/.test(headers.get('cache-control') ?? '')) return response
  const at = { epoch: machine.epoch(), number: machine.state().number }
  headers.append('set-cookie', writtenAtCookie(at, isSecure))
  if (headers.has('cdn-cache-control')) keepFromCdn(headers)
  return response
}

/** Something was written, which may get to the store yet, unless another machine has taken over. */
function unconfirmed({ log }: Context, error: unknown): AppError {
  if (error instanceof AppError && error.code === 'NOT_PRIMARY') return error
  if (!(error instanceof AppError)) log.error('a change could not be shipped', { error })
  return storeUnreachable(true)
}

async function refused(ctx: Context, { request, path }: Arrival, refusal: AppError): Promise<Response> {
  const { failure } = await loadEndpoints(ctx)()
  return failure(request, path, refusal)
}
