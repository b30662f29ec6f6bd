import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { analyticsQuery, projectAnalyticsView, workspaceAnalyticsView } from './model.ts'
import { getProjectAnalytics, getWorkspaceAnalytics } from './service.ts'

/** contract §11; spec: Project roles, "all project analytics" from admin on, and Global roles, "platform analytics". */
export const analyticsRoutes = (ctx: Context) =>
  new Elysia({ tags: ['Analytics'] })
    .use(guard(ctx))
    .get(
      '/api/projects/:id/analytics',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, () => getProjectAnalytics(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'analytics', 'analytics:read'),
        query: analyticsQuery,
        response: projectAnalyticsView,
        detail: {
          summary: 'Views, visitors, pages, referrers, statuses and bytes of the project, with bots separate',
        },
      },
    )
    .get('/api/analytics', ({ grant, query }) => getWorkspaceAnalytics(ctx, grant, query), {
      may: { action: 'workspace:administer' },
      query: analyticsQuery,
      response: workspaceAnalyticsView,
      detail: { summary: 'The same for the whole workspace, with the sums of each project' },
    })
