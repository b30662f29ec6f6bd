import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { pageOf } from '../../http/pagination.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { runQuery, runView } from './model.ts'
import { getRun, listRuns } from './service.ts'

/** contract §9.4; rights: reading the project's traffic. */
export const runRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  return new Elysia({ prefix: '/api/projects/:id/pipeline-runs', tags: ['Pipelines'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params, query }) => belowOrProject(ctx, grant, params.id, () => listRuns(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'pipeline-runs', 'project:read'),
        query: runQuery,
        response: t.Union([pageOf(runView), projectView]),
        detail: {
          summary: 'Runs of the pipelines of a project, the newest first',
          description:
            'The last 10 000 runs of the last 30 days. In a flood of more than 2000 answered runs in a quarter of a second, not all answered ones are kept.',
        },
      },
    )
    .get('/:runId', ({ grant, params }) => getRun(ctx, grant, params.runId), {
      may: { action: 'project:read', ...onProject },
      response: runView,
      detail: { summary: 'A run' },
    })
}
