import { Elysia, t } from 'elysia'
import type { Context, RequestFacts } from '../../../context.ts'
import { passingValues, setPassingCookie } from '../../../domain/cookies.ts'
import { parseWebUrl } from '../../../domain/web-url.ts'
import { requestState } from '../../../http/request-facts.ts'
import { callerOf, originOf } from '../caller.ts'
import { destinationOf } from '../handover.ts'
import { callbackUrl, FLOW_SECONDS, finishOidc, getProvider, type OidcResult, startOidc } from '../oidc.ts'

const leadsOn = { 302: t.Undefined() }

/** Signing in with an OpenID provider. Browsers navigate to both addresses. contract §3. */
export const oidcRoutes = (ctx: Context) =>
  new Elysia()
    .get(
      '/oidc/:provider/start',
      ({ request, params, query }) => start(ctx, request, params.provider, query.redirect),
      {
        query: t.Object({ redirect: t.Optional(t.String({ maxLength: 2048 })) }),
        response: leadsOn,
        detail: { summary: 'Go to an OpenID provider to sign in', security: [] },
      },
    )
    .get('/oidc/:provider/callback', ({ request, params }) => callback(ctx, request, params.provider), {
      response: leadsOn,
      detail: { summary: 'Come back from an OpenID provider', security: [] },
    })

const found = (location: string): Response =>
  new Response(null, { status: 302, headers: { location, 'cache-control': 'no-store' } })

async function start(
  ctx: Context,
  request: Request,
  id: string,
  redirect: string | undefined,
): Promise<Response> {
  const provider = getProvider(ctx, id)
  const state = requestState(request)
  const admin = new URL(ctx.adminUrl())
  // The provider knows only one callback address, and the flow cookie must be valid there.
  if (state.facts.host !== admin.hostname)
    return found(
      `${admin.origin}/api/auth/oidc/${id}/start?${new URLSearchParams({
        redirect: absolute(ctx, state.facts, redirect),
      })}`,
    )
  const { actor } = callerOf(ctx, request, 'ignore')
  const linkTo = actor.kind === 'user' && isOwnLink(request, admin) ? actor.user.id : null
  const { url, flow } = await startOidc(ctx, provider, { redirect, linkTo })
  state.setCookies.push(flowCookie(flow, FLOW_SECONDS, state.facts))
  return found(url)
}

/** The page with the connect buttons. */
const ACCOUNT_PATH = '/account'

/**
 * Whether the account page led here. Connections are made only then: another site could send a signed-in person here
 * while their browser is signed in to the attacker's account at the provider, and the attacker would then have access
 * to theirs. Any page of ours is not enough, because some redirect to where a link says. Some browsers send no
 * referrer, but still say that the request came from this host.
 */
function isOwnLink(request: Request, admin: URL): boolean {
  const site = request.headers.get('sec-fetch-site')
  const referer = request.headers.get('referer')
  if (site !== null && (site !== 'same-origin' || referer === null)) return site === 'same-origin'
  const page = referer === null ? null : parseWebUrl(referer)
  return page?.host === admin.host && page.pathname === ACCOUNT_PATH
}

/** A path on a site, as an absolute address for the admin host. */
function absolute(ctx: Context, { site, host }: RequestFacts, redirect = '/'): string {
  if (!redirect.startsWith('/') || site === null) return redirect
  return `${ctx.siteUrl(host)}${redirect}`
}

async function callback(ctx: Context, request: Request, id: string): Promise<Response> {
  const provider = getProvider(ctx, id)
  const state = requestState(request)
  // No provider leads here, and the page that explains a failure is not on a site.
  if (state.facts.site !== null) return found(`${callbackUrl(ctx, provider)}${new URL(request.url).search}`)
  const { actor } = callerOf(ctx, request, 'ignore')
  const result = await finishOidc(ctx, provider, {
    sealedFlows: passingValues(request.headers.get('cookie'), 'svcOidc', state.facts.isSecure),
    callback: new URL(request.url),
    signedInId: actor.kind === 'user' ? actor.user.id : null,
    origin: originOf(request),
  })
  if (result.kind === 'entered' && result.step.step === 'done') state.setCookies = result.step.setCookies
  state.setCookies.push(flowCookie('', 0, state.facts))
  return found(nextOf(ctx, state.facts, result))
}

function nextOf(ctx: Context, facts: RequestFacts, result: OidcResult): string {
  const { redirect } = result
  if (result.kind === 'connected') return '/account?done=connected'
  if (result.kind === 'problem')
    return result.wasLink
      ? `/account?problem=${result.problem}`
      : signInWith({ problem: result.problem, redirect })
  if (result.step.step === 'mfa') return signInWith({ mfaTicket: result.step.mfaTicket, redirect })
  return destinationOf(ctx, facts, result.step, redirect) ?? '/'
}

function signInWith({ redirect, ...query }: Record<string, string | undefined>): string {
  const given = Object.entries({ ...query, redirect }).filter((pair): pair is [string, string] => !!pair[1])
  return `/signin?${new URLSearchParams(given)}`
}

const flowCookie = (flow: string, maxAgeSeconds: number, { isSecure }: RequestFacts): string =>
  setPassingCookie('svcOidc', flow, { path: '/api/auth/oidc', maxAgeSeconds, isSecure })
