import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { secretBody, secretsView, tightenedAnswer } from './model.ts'
import { deleteSecret, listSecrets, putSecret } from './service.ts'

export const secretRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  const mayManage = { action: 'secret:manage', ...onProject } as const
  return new Elysia({ prefix: '/api/projects/:id/secrets', tags: ['Secrets'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ secrets: listSecrets(ctx, grant) })),
      {
        may: mayBelow(ctx, 'secrets', 'secret:names'),
        response: t.Union([secretsView, projectView]),
        detail: { summary: 'Names of the secrets; values are never shown' },
      },
    )
    .put(
      '/:name',
      ({ grant, params, body, status }) => {
        const disabledRules = putSecret(ctx, grant, params.name, body.value, body.usableBy)
        return disabledRules.length === 0 ? status(204, undefined) : status(200, { disabledRules })
      },
      {
        may: mayManage,
        body: secretBody,
        response: { 200: tightenedAnswer, 204: t.Undefined() },
        detail: {
          summary: 'Store a secret of the project, up to 64 KiB',
          description:
            'Whoever may write rules can read a secret that is usable by contributors, which is the default for a new one. ' +
            'Making it usable by admins only switches off the rules that use it and were last written below project admin: 200 with a list of them.',
        },
      },
    )
    .delete(
      '/:name',
      ({ grant, params, status }) => {
        deleteSecret(ctx, grant, params.name)
        return status(204, undefined)
      },
      { may: mayManage, response: { 204: t.Undefined() }, detail: { summary: 'Delete a secret' } },
    )
}
