import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow, onlyPost } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { cdnView, purgedView } from './model.ts'
import { getCdn, purgeProject } from './service.ts'

export const cdnRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/cdn', tags: ['Settings'] })
    .use(guard(ctx))
    .get('/', ({ grant }) => getCdn(ctx, grant), {
      may: { action: 'workspace:administer' },
      response: cdnView,
      detail: { summary: 'The CDN in front of the sites, what waits for it and what it was told last' },
    })

export const purgeRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects', tags: ['Projects'] })
    .use(guard(ctx))
    .get('/:id/purge', ({ grant, params }) => belowOrProject(ctx, grant, params.id, onlyPost), {
      may: mayBelow(ctx, 'purge', 'project:see'),
      response: projectView,
      detail: { summary: 'The project of that owner (in place of the id) and name' },
    })
    .post('/:id/purge', ({ grant, status }) => status(202, purgeProject(ctx, grant)), {
      may: { action: 'cdn:purge', on: ({ params }: PathInput) => aboutProject(ctx, params['id']) },
      response: { 202: purgedView },
      detail: {
        summary: 'Make the CDN forget everything of a project',
        description: 'Changes do so by themselves. 409 `CDN_NOT_CONFIGURED` without `CDN_KIND`.',
      },
    })
