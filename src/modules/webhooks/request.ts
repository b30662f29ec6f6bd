import type { Context } from '../../context.ts'
import type { HeaderPair } from '../../domain/forward-headers.ts'
import type { DeliveryRow, HookRow } from './queries.ts'
import { render } from './render.ts'
import { openHeaders, openHookSecret, REDACTED, sealedHeadersOf } from './sealed.ts'
import { signLikeGitHub, signStandard } from './signature.ts'

export type HookRequest = { headers: HeaderPair[]; body: string }

/** The request of one try. contract 16 §4. */
export function hookRequest(ctx: Context, hook: HookRow, delivery: DeliveryRow): HookRequest {
  const timestamp = Math.floor(ctx.now() / 1000)
  const secret = openHookSecret(ctx.secrets, hook)
  return requestWith(ctx, hook, delivery, timestamp, {
    own: openHeaders(ctx.secrets, hook),
    sign: (body) => [signLikeGitHub(secret, body), signStandard(secret, delivery.id, timestamp, body)],
  })
}

/** The same as it is shown: without the values of own headers, and without what the secret makes. */
export const shownRequest = (ctx: Context, hook: HookRow, delivery: DeliveryRow, at: number): HookRequest =>
  requestWith(ctx, hook, delivery, Math.floor(at / 1000), {
    own: Object.keys(sealedHeadersOf(hook)).map((name) => [name, REDACTED]),
    sign: () => [REDACTED, REDACTED],
  })

function requestWith(
  ctx: Context,
  { kind }: HookRow,
  { id, event, body: stored }: DeliveryRow,
  timestamp: number,
  parts: { own: HeaderPair[]; sign: (body: string) => [github: string, standard: string] },
): HookRequest {
  const { body, contentType, headers } = render(kind, id, stored)
  const [github, standard] = parts.sign(body)
  const taken = new Set(parts.own.map(([name]) => name.toLowerCase()))
  const usual: HeaderPair[] = [['user-agent', `svc/${ctx.version}`], ...headers]
  return {
    body,
    headers: [
      ['content-type', contentType],
      ...usual.filter(([name]) => !taken.has(name)),
      ['x-svc-event', event],
      ['x-svc-delivery', id],
      ['x-svc-timestamp', String(timestamp)],
      ['x-svc-signature-256', github],
      ['webhook-id', id],
      ['webhook-timestamp', String(timestamp)],
      ['webhook-signature', standard],
      ...parts.own,
    ],
  }
}
