import type { Context } from '../../context.ts'
import { messageOf } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'
import { parseRetryAfter } from '../../platform/outbox/retry.ts'
import type { DeliveryRow, HookRow } from './queries.ts'
import { hookRequest } from './request.ts'
import { shownResponse } from './response.ts'
import { openUrl } from './sealed.ts'
import type { Try } from './tries.ts'

/** The timeout of a whole try. */
const TRY_MS = 10_000
/** So much is read of an answer: what is shown of it, and the rest of a secret that begins there. */
const MAX_RESPONSE_BYTES = 16 * 1024

/** What came of a try. `retryAfterMs`: what a 429 or 503 asks for. */
export type Outcome = { tried: Try; retryAfterMs: number }

/** Sends a delivery once, until `stop` is aborted. Never rejects: what went wrong is in the try. */
export async function sendOnce(
  ctx: Context,
  hook: HookRow,
  delivery: DeliveryRow,
  stop: AbortSignal,
): Promise<Outcome> {
  const at = isoTime(ctx.now())
  const start = performance.now()
  const seen: Pick<Try, 'status' | 'error' | 'response'> = { status: null, error: null, response: null }
  let retryAfterMs = 0
  try {
    const answer = await ask(ctx, hook, delivery, stop)
    seen.status = answer.status
    if (answer.status === 429 || answer.status === 503)
      retryAfterMs = parseRetryAfter(answer.headers.find(([name]) => name === 'retry-after')?.[1], ctx.now())
    if (answer.status >= 300 && answer.status < 400) seen.error = 'Redirects are not followed'
    seen.response = shownResponse(ctx, hook, await readStart(answer))
  } catch (error) {
    if (seen.status === null) seen.error = messageOf(error)
  }
  return { tried: { at, ...seen, durationMs: Math.round(performance.now() - start) }, retryAfterMs }
}

async function ask(
  ctx: Context,
  hook: HookRow,
  delivery: DeliveryRow,
  stop: AbortSignal,
): Promise<OutboundResponse> {
  const url = new URL(openUrl(ctx.secrets, hook))
  // A name that may be asked without TLS must be one that the operator names, now as when the hook was saved.
  if (url.protocol !== 'https:') await ctx.outbound.checkTarget(url, { mayBePlainIfNamed: true })
  const { headers, body } = hookRequest(ctx, hook, delivery)
  return ctx.outbound.request(url, {
    method: 'POST',
    headers,
    body: Buffer.from(body),
    headTimeoutMs: TRY_MS,
    idleTimeoutMs: TRY_MS,
    signal: AbortSignal.any([stop, AbortSignal.timeout(TRY_MS)]),
    mayBePlain: true,
  })
}

/** The start of the body; what comes after it is not read. */
async function readStart({ body }: OutboundResponse): Promise<string> {
  const pieces: Uint8Array[] = []
  if (body instanceof Uint8Array) pieces.push(body.subarray(0, MAX_RESPONSE_BYTES))
  else if (body !== null) await collect(body, pieces)
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MAX_RESPONSE_BYTES))
}

/** A body that breaks off or trickles past the timeout keeps what came. */
async function collect(body: ReadableStream<Uint8Array>, pieces: Uint8Array[]): Promise<void> {
  let length = 0
  try {
    // Leaving the loop cancels the stream.
    for await (const piece of body) {
      pieces.push(piece)
      length += piece.length
      if (length >= MAX_RESPONSE_BYTES) return
    }
  } catch {
    // The status says whether it was delivered.
  }
}
