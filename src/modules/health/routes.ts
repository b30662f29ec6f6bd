import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { getHealthDetails } from './details.ts'
import { healthDetailsView, healthView, primaryView } from './model.ts'
import { probe, requirePrimary } from './service.ts'

export const healthRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/health', tags: ['Setup and health'] })
    .use(detailsRoute(ctx))
    .get(
      '/',
      async ({ status }) => {
        const found = await probe(ctx)
        return found.status === 'ok' ? found : status(503, found)
      },
      {
        response: { 200: healthView, 503: healthView },
        detail: { summary: 'Writes to the database and the storage', security: [] },
      },
    )
    .get('/primary', () => requirePrimary(ctx), {
      response: primaryView,
      detail: {
        summary: 'Whether a change would be taken here now, for load balancers',
        description:
          '503 `NOT_PRIMARY` where not. Without an object store this machine always takes it, and `epoch` is 0.',
        security: [],
      },
    })

const detailsRoute = (ctx: Context) =>
  new Elysia().use(guard(ctx)).get('/details', ({ grant }) => getHealthDetails(ctx, grant), {
    may: { action: 'workspace:administer' },
    response: healthDetailsView,
    detail: { summary: 'The state of every part of the server' },
  })
