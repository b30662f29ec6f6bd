import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { projectQuotaView, quotaBody, quotaView } from './model.ts'
import { changeQuota, getQuota } from './service.ts'

/** How much a project may store. contract 16 §3. */
export const quotaRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/quota', tags: ['Projects'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) => belowOrProject(ctx, grant, params.id, () => getQuota(ctx, grant, params.id)),
      {
        may: mayBelow(ctx, 'quota', 'project:read'),
        response: projectQuotaView,
        detail: { summary: 'What the project may store, and what it stores' },
      },
    )
    .put('/', ({ grant, params, body }) => changeQuota(ctx, grant, params.id, body), {
      may: { action: 'workspace:administer' },
      body: quotaBody,
      response: quotaView,
      detail: { summary: 'Change what the project may store; null for no limit' },
    })
