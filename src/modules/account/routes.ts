import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { factsOf, requestState } from '../../http/request-facts.ts'
import { personOf } from '../auth/authorize.ts'
import { guard } from '../auth/guard.ts'
import { passwordField, successView, typedPassword } from '../auth/model.ts'
import { clearedCookies } from '../auth/sessions.ts'
import { removeConnection } from './connections.ts'
import { accountSiteView, accountView, enrollmentView } from './model.ts'
import { changeOwnPassword } from './password.ts'
import { confirmEnrollment, renewRecoveryCodes, startEnrollment, turnOffSecondStep } from './second-step.ts'
import { getAccountHub, leaveSite, listOwnSites } from './service.ts'
import { endOwnSession } from './sessions.ts'

const may = { action: 'account:use' } as const
const noContent = { 204: t.Undefined() }

export const accountRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/account', tags: ['Account'] })
    .use(overviewRoutes(ctx))
    .use(passwordRoutes(ctx))
    .use(secondStepRoutes(ctx))
    .use(removalRoutes(ctx))

const overviewRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .get('/', ({ grant }) => getAccountHub(ctx, grant), {
      may,
      response: accountView,
      detail: { summary: 'The signed-in account, its second step, connections and sessions' },
    })
    .get('/sites', ({ grant }) => ({ sites: listOwnSites(ctx, grant) }), {
      may,
      response: t.Object({ sites: t.Array(accountSiteView) }),
      detail: { summary: 'My Sites: the projects that the account is a member of' },
    })

const passwordRoutes = (ctx: Context) =>
  new Elysia().use(guard(ctx)).post(
    '/password',
    async ({ grant, body }) => {
      await changeOwnPassword(ctx, grant, body)
      return { success: true as const }
    },
    {
      may,
      body: t.Object({ currentPassword: typedPassword, newPassword: passwordField }),
      response: successView,
      detail: { summary: 'Change the password; all other sessions end' },
    },
  )

const secondStepRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .post('/mfa/totp', ({ grant }) => startEnrollment(ctx, grant), {
      may,
      response: enrollmentView,
      detail: { summary: 'Begin two-step sign-in: a secret for an authenticator app' },
    })
    .post(
      '/mfa/totp/confirm',
      async ({ grant, body }) => ({ recoveryCodes: await confirmEnrollment(ctx, grant, body.code) }),
      {
        may,
        body: t.Object({ code: t.String({ maxLength: 64, examples: ['123456'] }) }),
        response: t.Object({ recoveryCodes: t.Array(t.String()) }),
        detail: { summary: 'Turn two-step sign-in on with a code; the recovery codes are shown only here' },
      },
    )
    .post(
      '/mfa/recovery-codes',
      async ({ grant, body }) => ({ recoveryCodes: await renewRecoveryCodes(ctx, grant, body) }),
      {
        may,
        body: t.Object({ password: typedPassword, code: t.Optional(t.String({ maxLength: 64 })) }),
        response: t.Object({ recoveryCodes: t.Array(t.String()) }),
        detail: { summary: 'Ten new recovery codes; the old ones are void' },
      },
    )
    .delete(
      '/mfa/totp',
      async ({ grant, body, status }) => {
        await turnOffSecondStep(ctx, grant, body.password)
        return status(204, undefined)
      },
      {
        may,
        body: t.Object({ password: typedPassword }),
        response: noContent,
        detail: { summary: 'Turn two-step sign-in off' },
      },
    )

const removalRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .delete(
      '/sessions/:id',
      ({ grant, params, request, status }) => {
        endOwnSession(ctx, grant, params.id)
        if (params.id === personOf(grant).sessionId)
          requestState(request).setCookies = clearedCookies(ctx, factsOf(request))
        return status(204, undefined)
      },
      { may, response: noContent, detail: { summary: 'End one of your sessions' } },
    )
    .delete(
      '/connections/:provider',
      ({ grant, params, status }) => {
        removeConnection(ctx, grant, params.provider)
        return status(204, undefined)
      },
      { may, response: noContent, detail: { summary: 'Remove a connected sign-in method' } },
    )
    .delete(
      '/sites/:projectId',
      ({ grant, params, status }) => {
        leaveSite(ctx, grant, params.projectId)
        return status(204, undefined)
      },
      { may, response: noContent, detail: { summary: 'Leave a site: membership and direct role end' } },
    )
