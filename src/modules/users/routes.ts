import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { factsOf, requestState } from '../../http/request-facts.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { clearedCookies } from '../auth/sessions.ts'
import {
  newUserAnswer,
  newUserBody,
  resetLink,
  suspendBody,
  userDeleteQuery,
  userListQuery,
  userOverview,
  userPage,
  userPatchBody,
  userRecord,
} from './model.ts'
import { getUserOverview, resetSecondStepOf } from './overview.ts'
import { changeUser, createResetLink, createUser, deleteUser, getUser, listUsers } from './service.ts'
import { endUserSession, endUserSessions } from './sessions.ts'
import { suspendUser, unsuspendUser } from './suspension.ts'

const may = { action: 'workspace:administer' } as const

const mayUser = (ctx: Context) => ({
  ...may,
  mustFind: ({ params }: PathInput, grant: Grant) => getUser(ctx, grant, params['id'] ?? ''),
})

export const userRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/users', tags: ['Users'] }).use(accountRoutes(ctx)).use(personRoutes(ctx))

const accountRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listUsers(ctx, grant, query), {
      may,
      query: userListQuery,
      response: userPage,
      detail: {
        summary: 'Accounts; filter by email (exact), search (part) or status, sort by email or createdAt',
      },
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
      may: mayUser(ctx),
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
        may: mayUser(ctx),
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

/** One person: what they see, where they are signed in, and shutting them out. contract 17.6. */
const personRoutes = (ctx: Context) =>
  new Elysia()
    .use(guard(ctx))
    .get('/:id/overview', ({ grant, params }) => getUserOverview(ctx, grant, params.id), {
      may,
      response: userOverview,
      detail: { summary: 'What the person sees and why, sessions, second step, groups and API keys' },
    })
    .delete('/:id/sessions', ({ grant, params, request }) => endAll(ctx, grant, params.id, request), {
      may: mayUser(ctx),
      response: t.Object({ ended: t.Integer() }),
      detail: { summary: 'End all sessions of the person' },
    })
    .delete(
      '/:id/sessions/:sessionId',
      ({ grant, params, request, status }) => {
        endUserSession(ctx, grant, params.id, params.sessionId)
        if ('sessionId' in grant.actor && params.sessionId === grant.actor.sessionId) clear(ctx, request)
        return status(204, undefined)
      },
      {
        may: mayUser(ctx),
        response: { 204: t.Undefined() },
        detail: { summary: 'End a session of the person' },
      },
    )
    .post('/:id/reset-second-step', ({ grant, params }) => resetSecondStepOf(ctx, grant, params.id), {
      may: mayUser(ctx),
      response: userOverview,
      detail: { summary: 'Remove the second step and the recovery codes; their sessions end' },
    })
    .post(
      '/:id/suspend',
      ({ grant, params, body }) => suspendUser(ctx, grant, params.id, body?.reason ?? null),
      {
        may: mayUser(ctx),
        body: t.Optional(suspendBody),
        response: userRecord,
        detail: {
          summary: 'Shut the person out',
          description:
            'All sessions end, their API keys are suspended, and nothing lets them in until `unsuspend`. Roles, groups and projects stay, and count for nothing meanwhile.',
        },
      },
    )
    .post('/:id/unsuspend', ({ grant, params }) => unsuspendUser(ctx, grant, params.id), {
      may: mayUser(ctx),
      response: userRecord,
      detail: { summary: 'Let the person back in' },
    })

function endAll(ctx: Context, grant: Grant, userId: string, request: Request): { ended: number } {
  const ended = endUserSessions(ctx, grant, userId)
  if ('user' in grant.actor && grant.actor.user.id === userId) clear(ctx, request)
  return ended
}

function clear(ctx: Context, request: Request): void {
  requestState(request).setCookies = clearedCookies(ctx, factsOf(request))
}
