import type { CdnKind } from '../../config/cdn.ts'
import type { Context } from '../../context.ts'
import { messageOf } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { OutboundResponse } from '../../platform/outbound.ts'
import { parseRetryAfter } from '../../platform/outbox/retry.ts'
import type { Target } from './queries.ts'
import { WAYS } from './request.ts'

/** The timeout of a whole try. */
const TRY_MS = 10_000
/** An answer that says `success` is short. */
const MAX_ANSWER_BYTES = 64 * 1024

/** What came of a try. `status` null: nothing answered. `error` null: it arrived. */
export type Outcome = { status: number | null; error: string | null; retryAfterMs: number }

/** Tells a target of keys once, until `stop` is aborted. Never rejects. */
export async function sendPurge(
  ctx: Context,
  kind: CdnKind,
  { url }: Target,
  keys: readonly string[],
  stop: AbortSignal,
): Promise<Outcome> {
  const { config } = ctx
  const { method, headers, body } = WAYS[kind].request(keys, config, isoTime(ctx.now()))
  try {
    const answer = await ctx.operatorOutbound.request(new URL(url), {
      method,
      headers: [['user-agent', `svc/${ctx.version}`], ...headers],
      body: body === null ? null : Buffer.from(body),
      headTimeoutMs: TRY_MS,
      idleTimeoutMs: TRY_MS,
      signal: AbortSignal.any([stop, AbortSignal.timeout(TRY_MS)]),
      mayBePlain: true,
    })
    const { status } = answer
    const isDone = WAYS[kind].isDone(status, await readAnswer(answer))
    return { status, error: isDone ? null : `${status} is no success`, retryAfterMs: retryAfter(ctx, answer) }
  } catch (error) {
    return { status: null, error: messageOf(error), retryAfterMs: 0 }
  }
}

function retryAfter(ctx: Context, { status, headers }: OutboundResponse): number {
  if (status !== 429 && status !== 503) return 0
  return parseRetryAfter(headers.find(([name]) => name === 'retry-after')?.[1], ctx.now())
}

/** The whole body, unless it is longer than any that matters. */
async function readAnswer({ body }: OutboundResponse): Promise<string> {
  const pieces: Uint8Array[] = body instanceof Uint8Array ? [body] : []
  if (body instanceof ReadableStream) {
    let length = 0
    // Leaving the loop cancels the stream.
    for await (const piece of body) {
      pieces.push(piece)
      length += piece.length
      if (length > MAX_ANSWER_BYTES) break
    }
  }
  return new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MAX_ANSWER_BYTES))
}
