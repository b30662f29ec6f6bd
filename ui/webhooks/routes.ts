import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { getDelivery, listDeliveries, resend, testHook } from '../../src/modules/webhooks/deliveries.ts'
import { hookChangeBody, newHookBody } from '../../src/modules/webhooks/model.ts'
import {
  changeHook,
  createHook,
  deleteHook,
  getHook,
  listHooks,
  rotateHookSecret,
} from '../../src/modules/webhooks/service.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, UNREAD_BODY } from '../frame/form.ts'
import { pageOf } from '../frame/page-of.ts'
import { doneNotice, type Failed } from '../frame/project-request.ts'
import { deliveryPage } from './delivery.ts'
import { hookPage } from './hook.ts'
import { hooksPage } from './hooks.ts'
import { hookInput } from './input.ts'
import { type At, hrefOf, placeOf, submitAt } from './place.ts'

/** Webhooks of projects, and of the workspace. */
export const webhookPages = (ctx: Context) =>
  new Elysia().use(pagesAt(ctx, '/projects/:id/webhooks')).use(pagesAt(ctx, '/admin/webhooks'))

const pagesAt = (ctx: Context, prefix: string) =>
  new Elysia({ prefix })
    .get('', ({ request, params }) => showHooks(ctx, request, (params ?? {}) as At))
    .post('', ({ request, params }) => submitHooks(ctx, request, (params ?? {}) as At), UNREAD_BODY)
    .get('/:hookId', ({ request, params }) => showHook(ctx, request, params))
    .post('/:hookId', ({ request, params }) => submitHook(ctx, request, params), UNREAD_BODY)
    .get('/:hookId/deliveries/:deliveryId', ({ request, params }) => showDelivery(ctx, request, params))
    .post(
      '/:hookId/deliveries/:deliveryId',
      ({ request, params }) => submitDelivery(ctx, request, params),
      UNREAD_BODY,
    )

type Shown = { failed?: Failed; created?: { name: string; secret: string } }

function showHooks(ctx: Context, request: Request, at: At, { failed, created }: Shown = {}): Response {
  const place = placeOf(ctx, request, at)
  const hooks = listHooks(ctx, place.grant)
  const notices = doneNotice(request, { deleted: 'The webhook was deleted.' })
  return page(hooksPage({ place, hooks, created, failed, notices }), failed?.error.status)
}

const submitHooks = (ctx: Context, request: Request, at: At): Promise<Response> =>
  submitAt(ctx, request, at, {
    intents: {
      create: {
        isOnce: true,
        async run({ grant, form }) {
          const input = hookInput(form)
          checkInput(ctx, request, newHookBody, input)
          return showHooks(ctx, request, at, { created: await createHook(ctx, grant, input) })
        },
      },
    },
    show: (failed) => showHooks(ctx, request, at, { failed }),
  })

const showHook = (
  ctx: Context,
  request: Request,
  at: At,
  more: { failed?: Failed; secret?: string } = {},
) => {
  const place = placeOf(ctx, request, at)
  const { hookId = '' } = at
  const hook = getHook(ctx, place.grant, hookId)
  const deliveries = pageOf(request, 'page', (asked) => listDeliveries(ctx, place.grant, hookId, asked))
  const notices = doneNotice(request, { saved: 'Saved.' })
  return page(hookPage({ place, hook, deliveries, notices, ...more }), more.failed?.error.status)
}

const submitHook = (ctx: Context, request: Request, at: At): Promise<Response> => {
  const { hookId = '' } = at
  const href = `${hrefOf(at)}/${hookId}`
  return submitAt(ctx, request, at, {
    intents: {
      change: {
        async run({ grant, form }) {
          await change(ctx, request, form, (input) => changeHook(ctx, grant, hookId, input))
          return `${href}?done=saved`
        },
      },
      test: {
        isOnce: true,
        run: async ({ grant }) => `${href}/deliveries/${(await testHook(ctx, grant, hookId)).id}`,
      },
      rotate: {
        isOnce: true,
        run: ({ grant }) =>
          showHook(ctx, request, at, { secret: rotateHookSecret(ctx, grant, hookId).secret }),
      },
      delete: {
        isLast: true,
        run({ grant }) {
          deleteHook(ctx, grant, hookId)
          return `${hrefOf(at)}?done=deleted`
        },
      },
    },
    show: (failed) => showHook(ctx, request, at, { failed }),
  })
}

async function change(
  ctx: Context,
  request: Request,
  form: Form,
  write: (input: Parameters<typeof changeHook>[3]) => Promise<unknown>,
): Promise<void> {
  const input = hookInput(form)
  checkInput(ctx, request, hookChangeBody, input)
  await write(input)
}

function showDelivery(ctx: Context, request: Request, at: At, failed?: Failed): Response {
  const { grant, ...rest } = placeOf(ctx, request, at)
  const { hookId = '', deliveryId = '' } = at
  const props = {
    place: { grant, ...rest },
    hook: getHook(ctx, grant, hookId),
    delivery: getDelivery(ctx, grant, hookId, deliveryId),
    failed,
    notices: doneNotice(request, { resent: 'It is being sent again.' }),
  }
  return page(deliveryPage(props), failed?.error.status)
}

const submitDelivery = (ctx: Context, request: Request, at: At): Promise<Response> => {
  const { hookId = '', deliveryId = '' } = at
  return submitAt(ctx, request, at, {
    intents: {
      resend: {
        isOnce: true,
        run({ grant }) {
          resend(ctx, grant, hookId, deliveryId)
          return `${hrefOf(at)}/${hookId}/deliveries/${deliveryId}?done=resent`
        },
      },
    },
    show: (failed) => showDelivery(ctx, request, at, failed),
  })
}
