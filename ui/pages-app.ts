import { Elysia } from 'elysia'
import type { Context } from '../src/context.ts'
import { AppError } from '../src/domain/errors.ts'
import { networkOf } from '../src/domain/ip-ranges.ts'
import { acceptsHtml } from '../src/http/accepts-html.ts'
import { elysiaOptions } from '../src/http/elysia-options.ts'
import { skipBody } from '../src/http/held-body.ts'
import { createRateLimiter, type RateState } from '../src/http/rate-limit.ts'
import { factsOf } from '../src/http/request-facts.ts'
import { createRouteTable } from '../src/http/route-table.ts'
import { refuseCrossOrigin } from '../src/http/same-origin.ts'
import type { Explainer } from '../src/modules/explain/service.ts'
import { workspaceHasAdmin } from '../src/modules/setup/service.ts'
import { devicePages } from './account/device-routes.ts'
import { accountPages } from './account/routes.ts'
import { themePages } from './account/theme-routes.ts'
import { adminPages } from './admin-pages.ts'
import { cookiePages, withCookieNotice } from './auth/cookie-routes.ts'
import { linkPages } from './auth/link-routes.ts'
import { authPages } from './auth/routes.ts'
import { setupPages } from './auth/setup-routes.ts'
import { docsPages } from './docs/routes.ts'
import { framedFailure } from './frame/admin-failure.ts'
import { withDiskNotice } from './frame/disk-notice.ts'
import { failurePage, redirectTo, toSignIn } from './frame/page-request.ts'
import { withTheme } from './frame/theme.ts'
import { withUndoNotice } from './frame/undo-notice.ts'
import { leadByName } from './projects/by-name.ts'

type Pages = {
  /** The path below `/_svc/` that pages on every host post to. */
  isSiteRoute(path: string): boolean
  handle(request: Request, path: string): Promise<Response>
}

/** All pages of the admin host. They use the same services as the API, behind the same guard. */
export function createPages(ctx: Context, explainer: Explainer): Pages {
  const app = pageRoutes(ctx, explainer)
  const table = createRouteTable(app.routes)
  const forms = createRateLimiter(ctx.config.rateLimitApi, ctx.now)

  const answer = async (request: Request, path: string): Promise<Response> => {
    // Another site's form must not sign anybody in or out, so this check runs without a session too.
    refuseCrossOrigin(request, factsOf(request).hostWithPort)
    if (request.method === 'POST' && ctx.config.rateLimitApi > 0)
      refuseFlood(forms.take(networkOf(factsOf(request).ip)))
    if (!isOpenBeforeSetup(path) && !workspaceHasAdmin(ctx)) return redirectTo(302, '/setup')
    const named = leadByName(ctx, request)
    if (named !== undefined) return named
    refuseMethod(request.method, table.methodsOf(path))
    if (request.method === 'GET') await skipBody(ctx, request)
    return app.handle(request)
  }
  return {
    isSiteRoute: (path) => path.startsWith('/_svc/') && table.methodsOf(path).length > 0,
    async handle(request, path) {
      const shown = answer(request, path).catch((error) => answerFailure(ctx, request, error))
      const page = await withUndoNotice(ctx, request, await shown)
      return withTheme(request, withDiskNotice(ctx, withCookieNotice(request, page)))
    },
  }
}

/** The routes of all pages. The access test walks `routes`. */
export const pageRoutes = (ctx: Context, explainer: Explainer) =>
  new Elysia(elysiaOptions(ctx))
    .onError(({ error, request }) => answerFailure(ctx, request, error))
    .get('/robots.txt', () => new Response('User-agent: *\nDisallow: /\n', { headers: ROBOTS }))
    .use(docsPages())
    .use(setupPages(ctx))
    .use(authPages(ctx))
    .use(linkPages(ctx))
    .use(cookiePages(ctx))
    .use(accountPages(ctx))
    .use(devicePages(ctx))
    .use(themePages(ctx))
    .use(adminPages(ctx, explainer))

/** A page that needs a signed-in person redirects to the sign-in page. */
function answerFailure(ctx: Context, request: Request, error: unknown): Response {
  const isStranger = error instanceof AppError && error.kind === 'unauthenticated'
  if (isStranger && acceptsHtml(request)) return toSignIn(request)
  return failurePage(ctx, request, error, (props) => framedFailure(ctx, request, props))
}

const ROBOTS = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }

/** Until there is an admin, every page but the documents leads to the set-up. contract §3, 17.11. */
const isOpenBeforeSetup = (path: string): boolean =>
  /^\/(setup\/?|robots\.txt|_svc\/.*|docs(\/.*)?)$/.test(path)

/** Forms count towards the API's rate limit, so that sign-in pages offer no cheaper way to guess passwords. */
function refuseFlood({ isOver, retryAfterSeconds }: RateState): void {
  if (isOver)
    throw new AppError('rate_limited', `Wait ${retryAfterSeconds} seconds, then try again.`, {
      headers: { 'retry-after': String(retryAfterSeconds) },
    })
}

function refuseMethod(method: string, methods: readonly string[]): void {
  if (methods.length === 0) throw new AppError('not_found', 'There is nothing at this address.')
  if (methods.includes(method === 'HEAD' ? 'GET' : method)) return
  const allow = methods.includes('GET') ? ['HEAD', ...methods].sort() : methods
  throw new AppError('method_not_allowed', `This page does not support ${method}.`, {
    headers: { allow: allow.join(', ') },
  })
}
