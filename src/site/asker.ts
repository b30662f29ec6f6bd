import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import type { Arrival } from '../http/arrival.ts'
import { refuseCrossOrigin } from '../http/same-origin.ts'
import type { Asker } from '../pipelines/runner.ts'
import type { PipelineRequest } from './pipeline-request.ts'
import { descriptionOf } from './protected-resource.ts'
import { servesTools } from './serves-tools.ts'

/** What the steps of a run may know of the sender of its request. */
export const askerOf = (ctx: Context, { arrival, askSite = null }: PipelineRequest): Asker => ({
  get origin() {
    return originOf(ctx, arrival)
  },
  get signal() {
    return arrival.request.signal
  },
  refuseForeign: () => refuseCrossOrigin(arrival.request, hostOf(arrival), true),
  allowSilence: (isAllowed) => arrival.peer.allowSilence?.(isAllowed),
  askSite,
})

/** Of a rule that serves tools, a 401 says where it is described how to get access. contract 14.5, RFC 9728 §5.1. */
export function withDescription(
  ctx: Context,
  { arrival, rule, site }: PipelineRequest,
  error: unknown,
): unknown {
  if (!(error instanceof AppError) || error.status !== 401 || !servesTools(rule)) return error
  const description = descriptionOf(site.rules, arrival.plain)
  if (description === undefined) return error
  const { kind, message, code, details, cause } = error
  const header = `Bearer resource_metadata="${encodeURI(`${originOf(ctx, arrival)}${description}`)}"`
  const headers = { ...error.headers, 'www-authenticate': header }
  return new AppError(kind, message, { code, cause, headers, ...(details !== undefined && { details }) })
}

const hostOf = ({ peer, hostHeader }: Arrival): string => (peer.shownHost ?? hostHeader).toLowerCase()

/** The scheme is that of links where something in front may have ended the encryption. */
function originOf(ctx: Context, arrival: Arrival): string {
  const isSecure = arrival.isSecure || ctx.siteUrl('site').startsWith('https:')
  return `${isSecure ? 'https' : 'http'}://${hostOf(arrival)}${arrival.mount}`
}
