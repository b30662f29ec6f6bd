import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutDomain } from '../domains/service.ts'
import { trafficBody, trafficView } from './model.ts'
import { deleteTraffic, getTraffic, setTraffic } from './service.ts'

export const trafficRoutes = (ctx: Context) => {
  const onDomain = { on: ({ params }: PathInput) => aboutDomain(ctx, params['id']) }
  return new Elysia({ prefix: '/api/domains', tags: ['Domains'] })
    .use(guard(ctx))
    .get('/:id/traffic', ({ grant, params }) => getTraffic(ctx, grant, params.id), {
      may: { action: 'project:read', ...onDomain },
      response: trafficView,
      detail: { summary: 'How a domain splits its visitors' },
    })
    .put('/:id/traffic', ({ grant, params, body }) => setTraffic(ctx, grant, params.id, body), {
      may: { action: 'traffic:configure', ...onDomain },
      body: trafficBody,
      response: trafficView,
      detail: {
        summary: 'Split the visitors of a domain among aliases',
        description:
          'The first matching rule decides, else the cookie `__svc_variant`, else a random choice by weight. The response ' +
          'header `X-Variant` names the alias. Visitors of an alias whose weight becomes 0 are assigned again.',
      },
    })
    .delete(
      '/:id/traffic',
      ({ grant, params, status }) => {
        deleteTraffic(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'traffic:configure', ...onDomain },
        response: { 204: t.Undefined() },
        detail: { summary: 'Show everybody the alias of the domain again' },
      },
    )
}
