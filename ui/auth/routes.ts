import { Elysia, t } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { skipBody } from '../../src/http/held-body.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import { safeRedirect } from '../../src/http/safe-redirect.ts'
import { callerOf, originOf } from '../../src/modules/auth/caller.ts'
import { destinationOf } from '../../src/modules/auth/handover.ts'
import { loginMethods } from '../../src/modules/auth/login-methods.ts'
import { credentialsBody, signInBody } from '../../src/modules/auth/model.ts'
import { signInProblem } from '../../src/modules/auth/oidc.ts'
import { clearedCookies, signOut } from '../../src/modules/auth/sessions.ts'
import { beginSignIn, completeMfa, mfaTicketEmail } from '../../src/modules/auth/sign-in.ts'
import { signUp } from '../../src/modules/auth/sign-up.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, readForm, UNREAD_BODY } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { arrive, expectedFailure, leadOn, queryOf, redirectTo, seeOther } from '../frame/page-request.ts'
import { signInPage } from './sign-in.ts'
import { signUpPage } from './sign-up.ts'
import { signedOutPage } from './signed-out.ts'

/** On every host: the sign-out form of the "No access" page posts here. */
export const SITE_SIGN_OUT = '/_svc/signout'

/** Signing in, up and out. contract §3. */
export const authPages = (ctx: Context) =>
  new Elysia()
    .get('/signin', ({ request }) => showSignIn(ctx, request))
    .post('/signin', ({ request }) => submitSignIn(ctx, request), UNREAD_BODY)
    .get('/signup', ({ request }) => showSignUp(ctx, request))
    .post('/signup', ({ request }) => submitSignUp(ctx, request), UNREAD_BODY)
    .get('/signed-out', () => page(signedOutPage({ signInUrl: '/signin' })))
    .post('/signout', ({ request }) => submitSignOut(ctx, request, seeOther('/signed-out')), UNREAD_BODY)
    // A site may send visitors to the admin host to sign in.
    .post(SITE_SIGN_OUT, ({ request }) => submitSignOut(ctx, request, leadOn('/', 'sign-out')), UNREAD_BODY)

/** After a provider's sign-in, an account with two-step sign-in arrives here with a ticket. */
function showSignIn(ctx: Context, request: Request): Response {
  const redirect = safeRedirect(ctx, queryOf(request, 'redirect'))
  const { actor } = callerOf(ctx, request, 'ignore')
  if (actor.kind === 'user') {
    const target = destinationOf(ctx, factsOf(request), actor, redirect) ?? '/'
    return redirectTo(302, target)
  }
  const mfaTicket = queryOf(request, 'mfaTicket')
  const email = mfaTicket && mfaTicketEmail(ctx, mfaTicket, originOf(request))
  if (mfaTicket && email) return page(signInPage({ step: 'mfa', mfaTicket, email, redirect }))
  const error = signInProblem(queryOf(request, 'problem'))
  const notice = queryOf(request, 'done') === 'password' ? PASSWORD_SET : undefined
  return page(signInPage({ step: 'password', redirect, error, notice, ...methods(ctx) }))
}

const PASSWORD_SET = { tone: 'good', message: 'Your password was set. Sign in with it.' } as const

async function submitSignIn(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  const redirect = safeRedirect(ctx, form.optional('redirect'))
  const mfaTicket = form.optional('mfaTicket')
  if (mfaTicket === undefined) return submitPassword(ctx, request, form, redirect)
  const input = { mfaTicket, code: form.text('code') }
  return obeyOnce(ctx, request, { form }, () => submitCode(ctx, request, input, redirect))
}

async function submitPassword(
  ctx: Context,
  request: Request,
  form: Form,
  redirect: string | undefined,
): Promise<Response> {
  const input = { email: form.text('email'), password: form.text('password') }
  try {
    checkInput(ctx, request, signInBody, input)
    const next = await beginSignIn(ctx, input, originOf(request))
    if (next.step === 'mfa') return page(signInPage({ ...next, redirect }))
    return arrive(ctx, request, next, redirect)
  } catch (thrown) {
    return refuseSignIn(ctx, expectedFailure(thrown), input.email, redirect)
  }
}

async function submitCode(
  ctx: Context,
  request: Request,
  input: { mfaTicket: string; code: string },
  redirect: string | undefined,
): Promise<Response> {
  const email = mfaTicketEmail(ctx, input.mfaTicket, originOf(request))
  try {
    return arrive(ctx, request, await completeMfa(ctx, input, originOf(request)), redirect)
  } catch (thrown) {
    const error = expectedFailure(thrown)
    if (error.code !== 'MFA_CODE_INVALID') return refuseSignIn(ctx, error, email, redirect)
    const { mfaTicket } = input
    return page(signInPage({ step: 'mfa', mfaTicket, email, redirect, error }), error.status, error.headers)
  }
}

function refuseSignIn(
  ctx: Context,
  error: AppError,
  email: string | undefined,
  redirect: string | undefined,
): Response {
  const shown = signInPage({ step: 'password', email, redirect, error, ...methods(ctx) })
  return page(shown, error.status, error.headers)
}

function showSignUp(ctx: Context, request: Request): Response {
  const redirect = safeRedirect(ctx, queryOf(request, 'redirect'))
  return page(signUpPage({ redirect, ...methods(ctx) }))
}

async function submitSignUp(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  return obeyOnce(ctx, request, { form }, () => makeAccount(ctx, request, form))
}

async function makeAccount(ctx: Context, request: Request, form: Form): Promise<Response> {
  const redirect = safeRedirect(ctx, form.optional('redirect'))
  const input = { email: form.text('email'), password: form.text('password') }
  try {
    checkInput(ctx, request, t.Object(credentialsBody), input)
    return arrive(ctx, request, await signUp(ctx, input, originOf(request)), redirect)
  } catch (thrown) {
    const error = expectedFailure(thrown)
    const shown = signUpPage({ email: input.email, redirect, ...methods(ctx), error })
    return page(shown, error.status, error.headers)
  }
}

/** Clears the cookies even if the session has already ended. */
async function submitSignOut(ctx: Context, request: Request, next: Response): Promise<Response> {
  await skipBody(ctx, request)
  const facts = factsOf(request)
  try {
    signOut(ctx, request.headers.get('cookie'), facts)
  } catch (thrown) {
    if (expectedFailure(thrown).kind !== 'unauthenticated') throw thrown
  }
  requestState(request).setCookies = clearedCookies(ctx, facts)
  return next
}

/** The ways to sign in on the admin host, which shows no site. */
const methods = (ctx: Context) => loginMethods(ctx, null)
