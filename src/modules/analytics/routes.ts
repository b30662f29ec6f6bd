import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import type { Explainer } from '../explain/service.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { analyticsCsv } from './csv.ts'
import { getFailures } from './failures.ts'
import { getMissing } from './missing.ts'
import {
  analyticsQuery,
  errorsQuery,
  errorsView,
  missingQuery,
  missingView,
  projectAnalyticsQuery,
  projectAnalyticsView,
  workspaceAnalyticsView,
} from './model.ts'
import { getProjectAnalytics, getWorkspaceAnalytics } from './service.ts'

/** contract §11; spec: Project roles, "all project analytics" from admin on, and Global roles, "platform analytics". */
export const analyticsRoutes = (ctx: Context, explainer: Explainer) =>
  new Elysia({ tags: ['Analytics'] })
    .use(guard(ctx))
    .get(
      '/api/projects/:id/analytics',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, () =>
          query.format === 'csv' ? analyticsCsv(ctx, grant, query) : getProjectAnalytics(ctx, grant, query),
        ),
      {
        may: mayBelow(ctx, 'analytics', 'analytics:read'),
        query: projectAnalyticsQuery,
        response: projectAnalyticsView,
        detail: {
          summary: 'Views, visitors, pages, referrers, statuses and bytes of the project, with bots separate',
          description: 'With `format=csv` one of the tables, which `table` names.',
        },
      },
    )
    .get(
      '/api/projects/:id/errors',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, () => getFailures(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'errors', 'analytics:read'),
        query: errorsQuery,
        response: errorsView,
        detail: {
          summary: 'Requests that failed, by path, most requests first, with the newest five of each',
          description: 'Of the newest 10 000 that failed in the time.',
        },
      },
    )
    .get(
      '/api/projects/:id/missing',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, async () => ({
          missing: await getMissing(ctx, explainer, grant, query),
        })),
      {
        may: mayBelow(ctx, 'missing', 'analytics:read'),
        query: missingQuery,
        response: missingView,
        detail: {
          summary: 'Paths that people asked for in vain, who links there, and the nearest page',
          description: 'What production answers by now is left out, unless `all=true`.',
        },
      },
    )
    .get('/api/analytics', ({ grant, query }) => getWorkspaceAnalytics(ctx, grant, query), {
      may: { action: 'workspace:administer' },
      query: analyticsQuery,
      response: workspaceAnalyticsView,
      detail: { summary: 'The same for the whole workspace, with the sums of each project' },
    })
