import type { OidcProvider } from '../../config/config.ts'
import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { safeRedirect } from '../../http/safe-redirect.ts'
import { DiscoveryFailure, IssuerMismatch } from '../../platform/oidc/failures.ts'
import { createOidcClient, type OidcClient, type OidcIdentity, OidcRefusal } from '../../platform/oidc.ts'
import { onePer } from '../../platform/one-per.ts'
import type { Origin } from './caller.ts'
import type { OidcProblem } from './oidc/problems.ts'
import { settle } from './oidc/settle.ts'
import { enterOrAsk, type SignInStep } from './sign-in.ts'

export { signInProblem } from './oidc/problems.ts'
export { deleteConnection, listConnections } from './oidc/queries.ts'

/** What a browser keeps while it is at the provider: sealed, in its own cookie. */
type Flow = {
  provider: string
  state: string
  nonce: string
  verifier: string
  redirect: string | null
  /** Set when the person asked for the connection on their account page. */
  linkTo: string | null
  expiresAt: number
}

export const FLOW_SECONDS = 10 * 60
const SEAL = 'oidc flow'
/** Keeps the cookie below the size that browsers accept. */
const MAX_REDIRECT = 1024

/** The result: a session or its second step, a connection, or a reason why it failed. */
export type OidcResult = { redirect: string | undefined } & (
  | { kind: 'entered'; step: SignInStep }
  | { kind: 'connected' }
  | { kind: 'problem'; problem: OidcProblem; wasLink: boolean }
)

const clientOf = onePer((ctx: Context): OidcClient => createOidcClient(ctx.operatorOutbound, ctx.now))

/** The provider with that id, or 404. */
export function getProvider(ctx: Context, id: string): OidcProvider {
  const provider = ctx.config.oidcProviders.find((one) => one.id === id)
  if (provider === undefined) throw new AppError('not_found', 'There is no such sign-in method')
  return provider
}

/** The address registered at the provider: always on the admin host, whichever host was visited. */
export const callbackUrl = (ctx: Context, { id }: OidcProvider): string =>
  `${ctx.adminUrl()}/api/auth/oidc/${id}/callback`

/** Where to send the browser, and the flow to keep meanwhile. Throws 502 when the provider does not respond. */
export async function startOidc(
  ctx: Context,
  provider: OidcProvider,
  input: { redirect: string | undefined; linkTo: string | null },
): Promise<{ url: string; flow: string }> {
  const started = await clientOf(ctx)
    .start(provider, callbackUrl(ctx, provider))
    .catch((cause: unknown) => {
      throw startFailure(provider, cause)
    })
  const { url, ...kept } = started
  const redirect = safeRedirect(ctx, input.redirect) ?? null
  const flow: Flow = {
    ...kept,
    provider: provider.id,
    redirect: redirect !== null && redirect.length <= MAX_REDIRECT ? redirect : null,
    linkTo: input.linkTo,
    expiresAt: ctx.now() + FLOW_SECONDS * 1000,
  }
  return { url, flow: ctx.secrets.seal(JSON.stringify(flow), SEAL) }
}

/** What a person is told; the log has the cause. contract 12.7. */
function startFailure({ displayName }: OidcProvider, cause: unknown): AppError {
  if (cause instanceof IssuerMismatch) return issuerMismatch(displayName, cause)
  const reason = cause instanceof DiscoveryFailure ? cause.message : 'cannot be asked'
  const isPassing = !(cause instanceof DiscoveryFailure) || cause.isPassing
  return new AppError(
    'bad_gateway',
    `${displayName} ${reason}.${isPassing ? ' Try again in a minute.' : ''}`,
    {
      cause,
    },
  )
}

const issuerMismatch = (displayName: string, cause: IssuerMismatch): AppError =>
  new AppError('bad_gateway', `${displayName} is set up wrongly. ${cause.message}`, {
    code: 'OIDC_ISSUER_MISMATCH',
    cause,
  })

/** How a browser came back from a provider. */
type Return = {
  /** The values of all its flow cookies. */
  sealedFlows: readonly string[]
  callback: URL
  /** Who is signed in now: a connection is made only for the person who asked for it. */
  signedInId: string | null
  origin: Origin
}

/** Completes what `startOidc` began. */
export async function finishOidc(
  ctx: Context,
  provider: OidcProvider,
  { sealedFlows, callback, signedInId, origin }: Return,
): Promise<OidcResult> {
  const flow = sealedFlows.flatMap((sealed) => openFlow(ctx, sealed, provider, callback) ?? [])[0]
  if (flow === undefined) return problem('provider-expired', undefined, false)
  const redirect = flow.redirect ?? undefined
  const wasLink = flow.linkTo !== null
  if (wasLink && flow.linkTo !== signedInId) return problem('provider-expired', redirect, true)
  const identity = await askProvider(ctx, provider, flow, callback)
  if (typeof identity === 'string') return problem(identity, redirect, wasLink)
  const settled = settle(ctx, provider, identity, flow, origin.facts.ip)
  if (settled.do === 'refuse') return problem(settled.problem, redirect, wasLink)
  if (settled.do === 'connect') return { kind: 'connected', redirect }
  return { kind: 'entered', step: await enterOrAsk(ctx, settled.user, origin), redirect }
}

const problem = (problem: OidcProblem, redirect: string | undefined, wasLink: boolean): OidcResult => ({
  kind: 'problem',
  problem,
  redirect,
  wasLink,
})

/** The flow in a cookie. A sibling site can add cookies of that name, so only one with exactly this state counts. */
function openFlow(ctx: Context, sealed: string, provider: OidcProvider, callback: URL): Flow | undefined {
  try {
    const flow = JSON.parse(ctx.secrets.open(sealed, SEAL)) as Flow
    const isThis = flow.provider === provider.id && flow.state === callback.searchParams.get('state')
    return isThis && flow.expiresAt > ctx.now() ? flow : undefined
  } catch {
    return undefined
  }
}

async function askProvider(
  ctx: Context,
  provider: OidcProvider,
  flow: Flow,
  callback: URL,
): Promise<OidcIdentity | OidcProblem> {
  try {
    return await clientOf(ctx).finish(provider, callbackUrl(ctx, provider), flow, callback)
  } catch (error) {
    if (error instanceof OidcRefusal) return 'provider-refused'
    if (error instanceof IssuerMismatch) throw issuerMismatch(provider.displayName, error)
    ctx.log.warn('signing in with a provider failed', { provider: provider.id, error })
    return 'provider-failed'
  }
}
