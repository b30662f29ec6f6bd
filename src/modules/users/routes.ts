import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import {
  newUserAnswer,
  newUserBody,
  resetLink,
  userDeleteQuery,
  userListQuery,
  userPage,
  userPatchBody,
  userRecord,
} from './model.ts'
import { changeUser, createResetLink, createUser, deleteUser, getUser, listUsers } from './service.ts'

export const userRoutes = (ctx: Context) => {
  const may = { action: 'workspace:administer' } as const
  const mayUser = {
    ...may,
    mustFind: ({ params }: PathInput, grant: Grant) => getUser(ctx, grant, params['id'] ?? ''),
  }
  return new Elysia({ prefix: '/api/users', tags: ['Users'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listUsers(ctx, grant, query), {
      may,
      query: userListQuery,
      response: userPage,
      detail: { summary: 'Accounts; filter by email (exact) or search (part), sort by email or createdAt' },
    })
    .post('/', async ({ grant, body, status }) => status(201, await createUser(ctx, grant, body)), {
      may,
      body: newUserBody,
      response: { 201: newUserAnswer },
      detail: {
        summary: 'Create an account; without a password the response contains a link that sets the first one',
      },
    })
    .get('/:id', ({ grant, params }) => getUser(ctx, grant, params.id), {
      may,
      response: userRecord,
      detail: { summary: 'An account' },
    })
    .patch('/:id', ({ grant, params, body }) => changeUser(ctx, grant, params.id, body), {
      may: mayUser,
      body: userPatchBody,
      response: userRecord,
      detail: {
        summary: 'Change email or global role',
        description:
          '`keys` says what becomes of the API keys of an admin who stops being one: `suspend` (the default), or `take-over`, which makes them yours.',
      },
    })
    .delete(
      '/:id',
      ({ grant, params, query, status }) => {
        deleteUser(ctx, grant, params.id, query.keys)
        return status(204, undefined)
      },
      {
        may: mayUser,
        query: userDeleteQuery,
        response: { 204: t.Undefined() },
        detail: {
          summary: 'Delete an account that owns no project',
          description:
            '`keys` says what becomes of its API keys: `suspend` (the default), or `take-over`, which makes them yours.',
        },
      },
    )
    .post(
      '/:id/reset-link',
      ({ grant, params, status }) => status(201, createResetLink(ctx, grant, params.id)),
      {
        may,
        response: { 201: resetLink },
        detail: { summary: 'A link that sets a new password once, within an hour' },
      },
    )
}
