import { Elysia, t } from 'elysia'
import type { Context, RequestFacts } from '../../../context.ts'
import { passingValues, setPassingCookie } from '../../../domain/cookies.ts'
import { requestState } from '../../../http/request-facts.ts'
import { newToken } from '../../../platform/tokens.ts'
import { originOf } from '../caller.ts'
import { CALLBACK_PATH } from './code.ts'
import { askForOwnCode, pathAfterCallback, redeemCode } from './redeem.ts'

/** Leaves enough time to find the password and the second step. */
const BROWSER_SECONDS = 60 * 60

/** Where a domain outside the base domain gets its session. contract §4. */
export const callbackRoute = (ctx: Context) =>
  new Elysia({ tags: ['Auth'] }).get(
    CALLBACK_PATH,
    ({ request, query, set }) => {
      set.status = 303
      set.headers['location'] = redeemOrAsk(ctx, request, query.code, pathAfterCallback(ctx, query.redirect))
      // The address holds a code, even if it is already used.
      set.headers['referrer-policy'] = 'no-referrer'
    },
    {
      query: t.Object({ code: t.String({ maxLength: 256 }), redirect: t.Optional(t.String()) }),
      response: { 303: t.Undefined() },
      detail: { summary: 'Exchange a one-time code for a session on this host', security: [] },
    },
  )

/**
 * Signs in and returns `path`. A browser with a code that it did not ask for is sent to ask for its own: otherwise a
 * link could sign somebody in to another person's account (login CSRF). Clients without `Sec-Fetch-*` are not browsers.
 */
function redeemOrAsk(ctx: Context, request: Request, code: string, path: string): string {
  const state = requestState(request)
  const isBrowser = request.headers.has('sec-fetch-site')
  const secrets = passingValues(request.headers.get('cookie'), 'svcBrowser', state.facts.isSecure)
  const isKnown = isBrowser || secrets.length > 0
  const redeemed = redeemCode(ctx, code, isKnown ? secrets : undefined, originOf(request))
  if (redeemed !== 'not-bound') {
    state.setCookies.push(...redeemed.setCookies)
    return path
  }
  // Another tab may be signing in with the same secret.
  const secret = secrets[0] ?? newToken()
  state.setCookies.push(browserCookie(secret, state.facts))
  return askForOwnCode(ctx, state.facts, secret, path)
}

/** Ties a sign-in to the browser that asked for it. */
const browserCookie = (secret: string, { isSecure }: RequestFacts): string =>
  setPassingCookie('svcBrowser', secret, { path: CALLBACK_PATH, maxAgeSeconds: BROWSER_SECONDS, isSecure })
