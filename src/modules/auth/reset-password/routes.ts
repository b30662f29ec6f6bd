import { Elysia } from 'elysia'
import type { Context } from '../../../context.ts'
import { jsonBody } from '../../../http/json-body.ts'
import { factsOf } from '../../../http/request-facts.ts'
import { callerOf } from '../caller.ts'
import { forgotBody, resetBody, successView } from '../model.ts'
import { forgotPassword, resetPassword } from '../reset-password.ts'

const success = { success: true as const }

/** Forgotten passwords. On every host, for everybody. */
export const resetPasswordRoutes = (ctx: Context) =>
  new Elysia()
    .use(jsonBody(ctx))
    .post(
      '/forgot-password',
      ({ request, body }) => {
        forgotPassword(ctx, body.email, factsOf(request).ip)
        return success
      },
      {
        body: forgotBody,
        response: successView,
        detail: {
          summary: 'Mail a link that sets a new password; the response is always the same',
          security: [],
        },
      },
    )
    .post(
      '/reset-password',
      async ({ request, body }) => {
        await resetPassword(ctx, body, callerOf(ctx, request, 'ignore').actor, factsOf(request).ip)
        return success
      },
      {
        body: resetBody,
        response: successView,
        detail: { summary: 'Set a password with the token of a link; other sessions end', security: [] },
      },
    )
