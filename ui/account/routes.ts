import { Elysia, t } from 'elysia'
import type { Context } from '../../src/context.ts'
import { removeConnection } from '../../src/modules/account/connections.ts'
import { changeOwnPassword } from '../../src/modules/account/password.ts'
import {
  confirmEnrollment,
  pendingEnrollment,
  renewRecoveryCodes,
  startEnrollment,
  turnOffSecondStep,
} from '../../src/modules/account/second-step.ts'
import { getAccountHub, leaveSite, listOwnSites } from '../../src/modules/account/service.ts'
import { endOwnSession } from '../../src/modules/account/sessions.ts'
import { authorize, type Grant, personOf } from '../../src/modules/auth/authorize.ts'
import { loginMethods } from '../../src/modules/auth/login-methods.ts'
import { passwordField } from '../../src/modules/auth/model.ts'
import { signInProblem } from '../../src/modules/auth/oidc.ts'
import { changeNotices, getNotices } from '../../src/modules/notices/service.ts'
import { page } from '../components/html.ts'
import type { Notice } from '../components/notice.ts'
import { checkInput, type Form, UNREAD_BODY, unknownIntent } from '../frame/form.ts'
import { obeyOnce } from '../frame/obey-once.ts'
import { decidedForm, expectedFailure, queryOf, seeOther, viewerOf, visitUrl } from '../frame/page-request.ts'
import { type AccountIntent, type AccountPageData, accountPage } from './account.ts'
import type { MfaState } from './mfa-section.ts'

/** The account hub. contract §3. */
export const accountPages = (ctx: Context) =>
  new Elysia()
    .get('/account', ({ request }) => showAccount(ctx, request))
    .post('/account', ({ request }) => submitAccount(ctx, request), UNREAD_BODY)

/** The notice that the next page shows after a successful form. */
const DONE: Record<string, string> = {
  password: 'Your password was changed. You are signed out everywhere else.',
  'mfa-disable': 'Two-step sign-in is off.',
  'connection-remove': 'The sign-in method was removed.',
  connected: 'The sign-in method was connected.',
  'session-revoke': 'The session was revoked.',
  leave: 'You have left the site.',
  notices: 'Your notices were saved.',
}

type Shown = { mfa?: Partial<MfaState>; failed?: AccountPageData['failed'] }

function showAccount(ctx: Context, request: Request, shown: Shown = {}): Response {
  const { caller, user } = viewerOf(ctx, request)
  const grant = authorize(ctx, caller, 'account:use', undefined, true)
  const { mfa, connections, sessions } = getAccountHub(ctx, grant)
  const sites = listOwnSites(ctx, grant)
  const data: AccountPageData = {
    user,
    mfa: { ...mfa, ...shown.mfa },
    connections,
    sessions,
    sites: sites.map((site) => ({ ...site, url: siteUrlOf(ctx, request, site) })),
    providers: loginMethods(ctx, null).providers,
    mailNotices: getNotices(ctx, grant),
    notices: noticesOf(request),
    failed: shown.failed,
  }
  return page(accountPage(data), shown.failed?.error.status)
}

/** Until something is published, a site has no address of its own, so the link goes to its project. */
const siteUrlOf = (
  ctx: Context,
  request: Request,
  { url, projectId }: { url: string | null; projectId: string },
): string => (url === null ? `/projects/${projectId}` : visitUrl(ctx, request, { url, isPublic: false }))

function noticesOf(request: Request): Notice[] {
  const done = DONE[queryOf(request, 'done') ?? '']
  const problem = signInProblem(queryOf(request, 'problem'))
  return [
    ...(done === undefined ? [] : [{ tone: 'good' as const, message: done }]),
    ...(problem === undefined ? [] : [{ tone: 'bad' as const, message: problem.message }]),
  ]
}

async function submitAccount(ctx: Context, request: Request): Promise<Response> {
  const { grant, form } = await decidedForm(ctx, request, (caller) =>
    authorize(ctx, caller, 'account:use', undefined, false),
  )
  const intent = intentOf(form)
  try {
    return await ACTIONS[intent](ctx, request, grant, form)
  } catch (thrown) {
    const error = expectedFailure(thrown)
    // Keep the QR code on the page while the person tries another code.
    const enrollment = intent === 'mfa-confirm' ? pendingEnrollment(ctx, grant) : undefined
    return showAccount(ctx, request, { mfa: { enrollment }, failed: { intent, error } })
  }
}

function intentOf(form: Form): AccountIntent {
  const intent = form.text('intent')
  if (!isIntent(intent)) throw unknownIntent()
  return intent
}

const isIntent = (intent: string): intent is AccountIntent => Object.hasOwn(ACTIONS, intent)

type Act = (ctx: Context, request: Request, grant: Grant, form: Form) => Response | Promise<Response>

const done = (intent: AccountIntent): Response => seeOther(`/account?done=${intent}`)

const ACTIONS: Record<AccountIntent, Act> = {
  password: (ctx, request, grant, form) =>
    obeyOnce(ctx, request, { form, sender: personOf(grant).user.id }, async () => {
      const input = { currentPassword: form.text('currentPassword'), newPassword: form.text('newPassword') }
      const { newPassword } = input
      checkInput(ctx, request, t.Object({ newPassword: passwordField }), { newPassword })
      await changeOwnPassword(ctx, grant, input)
      return done('password')
    }),
  'mfa-start': (ctx, request, grant) =>
    showAccount(ctx, request, { mfa: { enrollment: startEnrollment(ctx, grant) } }),
  // Only this response shows the recovery codes, so it is not a redirect.
  'mfa-confirm': (ctx, request, grant, form) =>
    obeyOnce(ctx, request, { form, sender: personOf(grant).user.id }, async () => {
      const recoveryCodes = await confirmEnrollment(ctx, grant, form.text('code'))
      return showAccount(ctx, request, { mfa: { recoveryCodes } })
    }),
  // As above.
  'mfa-codes': (ctx, request, grant, form) =>
    obeyOnce(ctx, request, { form, sender: personOf(grant).user.id }, async () => {
      const recoveryCodes = await renewRecoveryCodes(ctx, grant, { password: form.text('password') })
      return showAccount(ctx, request, { mfa: { recoveryCodes } })
    }),
  async 'mfa-disable'(ctx, _request, grant, form) {
    await turnOffSecondStep(ctx, grant, form.text('password'))
    return done('mfa-disable')
  },
  'connection-remove'(ctx, _request, grant, form) {
    removeConnection(ctx, grant, form.text('provider'))
    return done('connection-remove')
  },
  'session-revoke'(ctx, _request, grant, form) {
    endOwnSession(ctx, grant, form.text('sessionId'))
    return done('session-revoke')
  },
  notices(ctx, _request, grant, form) {
    const { notices } = getNotices(ctx, grant)
    changeNotices(ctx, grant, Object.fromEntries(notices.map(({ id }) => [id, form.isTicked(id)])))
    return done('notices')
  },
  leave(ctx, _request, grant, form) {
    leaveSite(ctx, grant, form.text('projectId'))
    return done('leave')
  },
}
