import { Elysia, t } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { factsOf, requestState } from '../../src/http/request-facts.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { callerOf, originOf } from '../../src/modules/auth/caller.ts'
import { forgotBody, passwordField } from '../../src/modules/auth/model.ts'
import { findPasswordLink } from '../../src/modules/auth/password-links.ts'
import { forgotPassword, resetPassword } from '../../src/modules/auth/reset-password.ts'
import { clearedCookies, signOut } from '../../src/modules/auth/sessions.ts'
import { signUp } from '../../src/modules/auth/sign-up.ts'
import { acceptInvitation, getInvitation } from '../../src/modules/invitations/service.ts'
import { primaryUrl } from '../../src/modules/projects/service.ts'
import { page } from '../components/html.ts'
import { errorPage } from '../frame/error.ts'
import { checkInput, type Form, readForm, UNREAD_BODY, unknownIntent } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { expectedFailure, leadOn, queryOf, seeOther, visitUrl } from '../frame/page-request.ts'
import { withRedirect } from '../frame/with-redirect.ts'
import { acceptInvitationPage } from './accept-invitation.ts'
import { forgotPage } from './forgot.ts'
import { resetPage } from './reset.ts'

/** The pages behind links that people receive: a forgotten password, a first password, an invitation. */
export const linkPages = (ctx: Context) =>
  new Elysia()
    .get('/forgot-password', () => page(forgotPage({ canMail: ctx.mail.isConfigured })))
    .post('/forgot-password', ({ request }) => submitForgot(ctx, request), UNREAD_BODY)
    .get('/reset-password', ({ request }) => showReset(ctx, queryOf(request, 'token') ?? ''))
    .post('/reset-password', ({ request }) => submitReset(ctx, request), UNREAD_BODY)
    .get('/invite', ({ request }) => showInvitation(ctx, request))
    .post('/invite', ({ request }) => submitInvitation(ctx, request), UNREAD_BODY)

async function submitForgot(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  return obeyOnce(ctx, request, { form }, async () => mailLink(ctx, request, form))
}

/** Shows the same page for every email. */
function mailLink(ctx: Context, request: Request, form: Form): Response {
  const email = form.text('email')
  const canMail = ctx.mail.isConfigured
  try {
    checkInput(ctx, request, forgotBody, { email })
    forgotPassword(ctx, email, factsOf(request).ip)
    return page(forgotPage({ email, canMail, isSent: true }))
  } catch (thrown) {
    const error = expectedFailure(thrown)
    return page(forgotPage({ email, canMail, error }), error.status)
  }
}

/** The URL contains the token, so the page sends no referrer and no cache stores it. */
const NO_REFERRER = { 'referrer-policy': 'no-referrer' }

function showReset(ctx: Context, token: string, error?: AppError): Response {
  const link = findPasswordLink(ctx, token)
  const spent = new AppError('invalid', 'This link is invalid, has been used or has expired.', {
    code: 'RESET_TOKEN_INVALID',
  })
  const failure = error ?? (link === undefined ? spent : undefined)
  const props = { token, purpose: link?.purpose ?? 'reset', email: link?.email, error: failure } as const
  return page(resetPage(props), failure?.status ?? 200, NO_REFERRER)
}

async function submitReset(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  return obeyOnce(ctx, request, { form }, () => setPassword(ctx, request, form))
}

async function setPassword(ctx: Context, request: Request, form: Form): Promise<Response> {
  const input = { token: form.text('token'), password: form.text('password') }
  try {
    checkPassword(ctx, request, input.password)
    await resetPassword(ctx, input, callerOf(ctx, request, 'ignore').actor, factsOf(request).ip)
    return seeOther('/signin?done=password')
  } catch (thrown) {
    return showReset(ctx, input.token, expectedFailure(thrown))
  }
}

function showInvitation(ctx: Context, request: Request, error?: AppError): Response {
  const token = queryOf(request, 'token') ?? ''
  const { actor } = callerOf(ctx, request, 'ignore')
  try {
    const { email, role, project } = getInvitation(ctx, token)
    const signedInAs = actor.kind === 'user' ? actor.user.email : undefined
    const signInUrl = withRedirect('/signin', `/invite?token=${token}`)
    const shown = acceptInvitationPage({ email, role, project, signedInAs, signInUrl, error })
    return page(shown, error?.status ?? 200, NO_REFERRER)
  } catch (thrown) {
    const { status, message } = expectedFailure(thrown)
    const hint = 'If you have already accepted it, sign in: the site is listed in your account.'
    return page(errorPage({ status, title: 'Invitation not found', message, hint }), status, NO_REFERRER)
  }
}

async function submitInvitation(ctx: Context, request: Request): Promise<Response> {
  const form = await readForm(ctx, request)
  const token = queryOf(request, 'token') ?? ''
  const intent = form.text('intent')
  if (intent === 'switch') return switchAccount(ctx, request, token)
  // Signing up needs no session, and a second click may carry the cookies of the first.
  const { actor } = callerOf(ctx, request, 'ignore')
  const sender = intent !== 'signup' && actor.kind === 'user' ? actor.user.id : undefined
  return obeyOnce(ctx, request, { form, sender }, async () => {
    try {
      return await answerInvitation(ctx, request, form, token)
    } catch (thrown) {
      return showInvitation(ctx, request, expectedFailure(thrown))
    }
  })
}

async function answerInvitation(
  ctx: Context,
  request: Request,
  form: Form,
  token: string,
): Promise<Response> {
  switch (form.text('intent')) {
    case 'accept': {
      const grant = authorize(ctx, callerOf(ctx, request, 'ignore'), 'account:use', undefined, false)
      const { project } = acceptInvitation(ctx, grant, token)
      return toSite(ctx, request, project.id)
    }
    case 'signup': {
      const { email, project } = getInvitation(ctx, token)
      const input = { email, password: form.text('password') }
      checkPassword(ctx, request, input.password)
      const made = await signUp(ctx, { ...input, invitationToken: token }, originOf(request))
      requestState(request).setCookies = made.setCookies
      return toSite(ctx, request, project.id)
    }
    default:
      throw unknownIntent()
  }
}

/** The site that the person has joined, as My Sites links it; their account while nothing is published. */
function toSite(ctx: Context, request: Request, projectId: string): Response {
  const url = primaryUrl(ctx, projectId)
  if (url === null) return seeOther('/account')
  return leadOn(visitUrl(ctx, request, { url, isPublic: false }), 'invitation')
}

/** Signs out. Repeating it is harmless. */
function switchAccount(ctx: Context, request: Request, token: string): Response {
  signOut(ctx, request.headers.get('cookie'), factsOf(request))
  requestState(request).setCookies = clearedCookies(ctx, factsOf(request))
  return seeOther(`/invite?token=${encodeURIComponent(token)}`)
}

const checkPassword = (ctx: Context, request: Request, password: string): void =>
  checkInput(ctx, request, t.Object({ password: passwordField }), { password })
