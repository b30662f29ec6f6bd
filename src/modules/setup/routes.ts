import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { jsonBody } from '../../http/json-body.ts'
import { requestState } from '../../http/request-facts.ts'
import { originOf } from '../auth/caller.ts'
import { credentialsBody, userView } from '../auth/model.ts'
import { completeSetup, refuseSetup, workspaceHasAdmin } from './service.ts'

export const setupRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/setup', tags: ['Setup and health'] })
    .use(jsonBody(ctx))
    .get(
      '/status',
      () => {
        const hasAdminUser = workspaceHasAdmin(ctx)
        return { isSetupComplete: hasAdminUser, hasAdminUser, version: ctx.version }
      },
      {
        response: t.Object({ isSetupComplete: t.Boolean(), hasAdminUser: t.Boolean(), version: t.String() }),
        detail: { summary: 'Whether the first admin exists', security: [] },
      },
    )
    .post(
      '/complete',
      async ({ request, body, status }) => {
        const { user, setCookies } = await completeSetup(ctx, body, originOf(request))
        requestState(request).setCookies.push(...setCookies)
        return status(201, { user })
      },
      {
        // Before validation: strangers must not learn what is wrong with the rest of the body.
        transform: ({ request, body }) => refuseSetup(ctx, tokenIn(body), originOf(request)),
        body: t.Object({ ...credentialsBody, setupToken: t.Optional(t.String()) }),
        response: { 201: t.Object({ user: userView }) },
        detail: {
          summary: 'Create the first admin',
          description:
            'Needs the token of the printed set-up link, unless it comes straight from the server itself.',
          security: [],
        },
      },
    )

function tokenIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || !('setupToken' in body)) return undefined
  return typeof body.setupToken === 'string' ? body.setupToken : undefined
}
