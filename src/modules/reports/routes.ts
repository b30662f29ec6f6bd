import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutDeployment } from '../deployments/service.ts'
import { reportView } from './model.ts'
import { getReport } from './view.ts'

export const reportRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/deployments', tags: ['Deployments'] })
    .use(guard(ctx))
    .get('/:id/report', ({ grant, params }) => getReport(ctx, grant, params.id), {
      may: {
        action: 'project:read',
        on: ({ params }: PathInput) => aboutDeployment(ctx, params['id']),
      },
      response: reportView,
      detail: { summary: 'What the last upload to a deployment did to the site' },
    })
