import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { CLI_PREFIX, sentKey } from '../../domain/key-header.ts'
import { skipBody } from '../../http/held-body.ts'
import { jsonBody } from '../../http/json-body.ts'
import { factsOf, requestState } from '../../http/request-facts.ts'
import { publicUser } from '../users/accounts.ts'
import { callerOf, originOf } from './caller.ts'
import { loginMethods } from './login-methods.ts'
import { loginMethodsView, signInBody, signUpBody, successView, userView } from './model.ts'
import { oidcRoutes } from './oidc/routes.ts'
import { resetPasswordRoutes } from './reset-password/routes.ts'
import { clearedCookies, refreshSession, signOut, signOutCli } from './sessions.ts'
import { signIn } from './sign-in.ts'
import { signUp } from './sign-up.ts'

const userAnswer = t.Object({ user: userView })

/** The same routes at `/api/auth` on every host and at `/_svc/auth` on site hosts. contract §1 Hosts. */
export const authRoutes = (ctx: Context, prefix: '/api/auth' | '/_svc/auth') =>
  new Elysia({ prefix, tags: ['Auth'] })
    // Before the body is read: without a session the response is 401, whatever was sent.
    .use(signOutRoute(ctx, '/signout'))
    .use(signOutRoute(ctx, '/logout'))
    .use(refreshRoute(ctx, '/session/refresh'))
    .use(refreshRoute(ctx, '/refresh'))
    .use(jsonBody(ctx))
    .post(
      '/signup',
      async ({ request, body, status }) => {
        const { user, setCookies, isNew } = await signUp(ctx, body, originOf(request))
        requestState(request).setCookies.push(...setCookies)
        return isNew ? status(201, { user }) : status(200, { user })
      },
      {
        body: signUpBody,
        response: { 200: userAnswer, 201: userAnswer },
        detail: { summary: 'Register, or sign a member in', security: [] },
      },
    )
    .post(
      '/signin',
      async ({ request, body }) => {
        const { user, setCookies } = await signIn(ctx, body, originOf(request))
        requestState(request).setCookies.push(...setCookies)
        return { user }
      },
      { body: signInBody, response: userAnswer, detail: { summary: 'Sign in', security: [] } },
    )
    .get(
      '/session',
      ({ request }) => {
        const { actor } = callerOf(ctx, request, 'ignore')
        return { user: actor.kind === 'user' ? publicUser(actor.user) : null }
      },
      {
        response: t.Object({ user: t.Union([userView, t.Null()]) }),
        detail: { summary: 'Who is signed in', security: [{ session: [] }] },
      },
    )
    .get('/login-methods', ({ request }) => loginMethods(ctx, factsOf(request).site), {
      response: loginMethodsView,
      detail: { summary: 'How people can sign in on this host', security: [] },
    })
    .use(resetPasswordRoutes(ctx))
    .use(oidcRoutes(ctx))

const signOutRoute = (ctx: Context, path: string) =>
  new Elysia().post(
    path,
    async ({ request }) => {
      await skipBody(ctx, request)
      const facts = factsOf(request)
      const sent = sentKey(request.headers)
      if (sent?.startsWith(CLI_PREFIX)) signOutCli(ctx, sent, facts)
      else {
        signOut(ctx, request.headers.get('cookie'), facts)
        requestState(request).setCookies = clearedCookies(ctx, facts)
      }
      return { success: true as const }
    },
    {
      parse: 'none',
      response: successView,
      detail: { summary: 'Sign out; of `svc login`, with its token', security: [{ session: [] }] },
    },
  )

const refreshRoute = (ctx: Context, path: string) =>
  new Elysia().post(
    path,
    async ({ request }) => {
      await skipBody(ctx, request)
      const { user, setCookies } = refreshSession(ctx, request.headers.get('cookie'), factsOf(request))
      requestState(request).setCookies = setCookies
      return { user }
    },
    {
      parse: 'none',
      response: userAnswer,
      detail: { summary: 'New cookies for a good refresh token', security: [{ session: [] }] },
    },
  )
