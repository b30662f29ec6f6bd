import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { policyBody, projectRetentionView, retentionView, runBody, runView } from './model.ts'
import { changeRetention, getRetention, orderRun } from './service.ts'

/** Which deployments a project keeps. contract 16 §3. */
export const retentionRoutes = (ctx: Context) => {
  const may = {
    action: 'retention:manage',
    on: ({ params }: PathInput) => aboutProject(ctx, params['id']),
  } as const
  return new Elysia({ prefix: '/api/projects/:id/retention', tags: ['Projects'] })
    .use(guard(ctx))
    .get('/', ({ grant, params }) => belowOrProject(ctx, grant, params.id, () => getRetention(ctx, grant)), {
      may: mayBelow(ctx, 'retention', 'project:read'),
      response: projectRetentionView,
      detail: { summary: 'Which deployments the project keeps, and the last run' },
    })
    .put('/', ({ grant, body }) => changeRetention(ctx, grant, body), {
      may,
      body: policyBody,
      response: retentionView,
      detail: { summary: 'Change which deployments the project keeps; with no rule nothing is removed' },
    })
    .post('/run', ({ grant, body }) => orderRun(ctx, grant, body), {
      may,
      body: runBody,
      response: runView,
      detail: { summary: 'Remove what the rules do not keep, or say what would be removed (the default)' },
    })
}
