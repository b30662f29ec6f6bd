import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { keyAnswer, keyListQuery, keyPage, newKeyAnswer, newKeyBody } from './model.ts'
import { createKey, listKeys, revokeKey, takeOverKey } from './service.ts'

export const apiKeyRoutes = (ctx: Context) => {
  const may = { action: 'workspace:administer' } as const
  return new Elysia({ prefix: '/api/api-keys', tags: ['API keys'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listKeys(ctx, grant, query), {
      may,
      query: keyListQuery,
      response: keyPage,
      detail: { summary: 'API keys; filter by projectId, sort by createdAt, name or lastUsedAt' },
    })
    .post('/', ({ grant, body, status }) => status(201, createKey(ctx, grant, body)), {
      may,
      body: newKeyBody,
      response: { 201: newKeyAnswer },
      detail: { summary: 'Create an API key for one project or for all; the key is shown only here' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        revokeKey(ctx, grant, params.id)
        return status(204, undefined)
      },
      { may, response: { 204: t.Undefined() }, detail: { summary: 'Revoke an API key' } },
    )
    .post('/:id/take-over', ({ grant, params }) => takeOverKey(ctx, grant, params.id), {
      may: { action: 'api-key:take-over' },
      response: keyAnswer,
      detail: {
        summary: 'Take over a suspended API key',
        description:
          'A key is suspended when the person who made it may not make it any more. It stays what it is and is good again, as yours.',
      },
    })
}
