import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { getDelivery, listDeliveries, requireDelivery, resend, testHook } from './deliveries.ts'
import {
  deliveriesView,
  deliveryQuery,
  deliveryView,
  hookChangeBody,
  hooksView,
  hookView,
  hookWithSecret,
  newHookBody,
  projectHooksView,
  wholeDeliveryView,
} from './model.ts'
import {
  changeHook,
  createHook,
  deleteHook,
  getHook,
  listHooks,
  requireHook,
  rotateHookSecret,
} from './service.ts'

/** Hooks of the workspace, told of everything. contract 16 §4. */
export const webhookRoutes = (ctx: Context) => {
  const may = { action: 'workspace:administer' } as const
  return new Elysia({ prefix: '/api/webhooks', tags: ['Webhooks'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => ({ webhooks: listHooks(ctx, grant) }), {
      may,
      response: hooksView,
      detail: { summary: 'Webhooks of the workspace' },
    })
    .post('/', async ({ grant, body, status }) => status(201, await createHook(ctx, grant, body)), {
      may,
      body: newHookBody,
      response: { 201: hookWithSecret },
      detail: { summary: 'Make a webhook of the workspace; only this answer shows its secret' },
    })
    .use(routesOfOne(ctx, may))
}

/** Hooks of a project, told of what happens in it. */
export const projectWebhookRoutes = (ctx: Context) => {
  const may = {
    action: 'webhook:manage',
    on: ({ params }: PathInput) => aboutProject(ctx, params['id']),
  } as const
  return new Elysia({ prefix: '/api/projects/:id/webhooks', tags: ['Webhooks'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ webhooks: listHooks(ctx, grant) })),
      {
        may: mayBelow(ctx, 'webhooks', 'webhook:manage'),
        response: projectHooksView,
        detail: { summary: 'Webhooks of the project' },
      },
    )
    .post('/', async ({ grant, body, status }) => status(201, await createHook(ctx, grant, body)), {
      may,
      body: newHookBody,
      response: { 201: hookWithSecret },
      detail: { summary: 'Make a webhook of the project; only this answer shows its secret' },
    })
    .use(routesOfOne(ctx, may))
}

type May = {
  action: 'workspace:administer' | 'webhook:manage'
  on?: (input: PathInput) => { projectId: string | null }
}

/** What can be done with one hook, at both places. */
const routesOfOne = (ctx: Context, may: May) => {
  const mustFind = ({ params }: PathInput, grant: Grant) => {
    const hook = requireHook(ctx.db.orm, grant, params['hookId'])
    if (params['deliveryId'] !== undefined) requireDelivery(ctx, hook, params['deliveryId'])
  }
  const mayOne = { ...may, mustFind }
  return new Elysia({ prefix: '/:hookId' })
    .use(guard(ctx))
    .get('/', ({ grant, params }) => getHook(ctx, grant, params.hookId), {
      may: mayOne,
      response: hookView,
      detail: { summary: 'One webhook' },
    })
    .patch('/', ({ grant, params, body }) => changeHook(ctx, grant, params.hookId, body), {
      may: mayOne,
      body: hookChangeBody,
      response: hookView,
      detail: { summary: 'Change a webhook; a new origin drops its header values' },
    })
    .delete(
      '/',
      ({ grant, params, status }) => {
        deleteHook(ctx, grant, params.hookId)
        return status(204, undefined)
      },
      { may: mayOne, response: { 204: t.Undefined() }, detail: { summary: 'Delete a webhook' } },
    )
    .post('/rotate-secret', ({ grant, params }) => rotateHookSecret(ctx, grant, params.hookId), {
      may: mayOne,
      response: hookWithSecret,
      detail: { summary: 'Give a webhook a new secret; only this answer shows it' },
    })
    .post('/test', ({ grant, params }) => testHook(ctx, grant, params.hookId), {
      may: mayOne,
      response: deliveryView,
      detail: { summary: 'Send a ping once and wait for the answer' },
    })
    .get('/deliveries', ({ grant, params, query }) => listDeliveries(ctx, grant, params.hookId, query), {
      may: mayOne,
      query: deliveryQuery,
      response: deliveriesView,
      detail: { summary: 'What was sent in the last 30 days, newest first' },
    })
    .get(
      '/deliveries/:deliveryId',
      ({ grant, params }) => getDelivery(ctx, grant, params.hookId, params.deliveryId),
      { may: mayOne, response: wholeDeliveryView, detail: { summary: 'One delivery, with its request' } },
    )
    .post(
      '/deliveries/:deliveryId/resend',
      ({ grant, params, status }) => status(202, resend(ctx, grant, params.hookId, params.deliveryId)),
      {
        may: mayOne,
        response: { 202: deliveryView },
        detail: { summary: 'Send a delivery again, with five tries more' },
      },
    )
}
