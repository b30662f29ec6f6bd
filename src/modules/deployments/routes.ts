import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { pageOf } from '../../http/pagination.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutFilters, aboutProject } from '../projects/service.ts'
import { deploymentQuery, deploymentView, fileQuery, fileView } from './model.ts'
import { routingQuery, routingView } from './routing/model.ts'
import { getRouting } from './routing/view.ts'
import {
  aboutDeployment,
  deleteDeployment,
  getDeployment,
  getDeploymentByNumber,
  listDeployments,
  listFiles,
} from './service.ts'

export const deploymentRoutes = (ctx: Context) => {
  const onFilters = { on: ({ query }: PathInput) => aboutFilters(ctx, query) }
  const onDeployment = { on: ({ params }: PathInput) => aboutDeployment(ctx, params['id']) }
  return new Elysia({ prefix: '/api/deployments', tags: ['Deployments'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listDeployments(ctx, grant, query), {
      may: { action: 'project:list', ...onFilters },
      query: deploymentQuery,
      response: pageOf(deploymentView),
      detail: { summary: 'Deployments of the projects that the caller may read' },
    })
    .get('/:id', ({ grant, params }) => getDeployment(ctx, grant, params.id), {
      may: { action: 'project:read', ...onDeployment },
      response: deploymentView,
      detail: { summary: 'A deployment by id' },
    })
    .get('/:id/files', ({ grant, params, query }) => listFiles(ctx, grant, params.id, query), {
      may: { action: 'project:read', ...onDeployment },
      query: fileQuery,
      response: pageOf(fileView),
      detail: { summary: 'The files of a deployment' },
    })
    .get('/:id/routing', ({ grant, params, query }) => getRouting(ctx, grant, params.id, query.folder), {
      may: { action: 'project:read', ...onDeployment },
      query: routingQuery,
      response: routingView,
      detail: { summary: 'The redirects and headers in force in a folder of a deployment' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteDeployment(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'deployment:delete', ...onDeployment },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a deployment that no alias points at' },
      },
    )
}

export const numberedDeploymentRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/deployments', tags: ['Deployments'] })
    .use(guard(ctx))
    .get('/:number', ({ grant, params }) => getDeploymentByNumber(ctx, grant, params.number), {
      may: { action: 'admin:read', on: ({ params }: PathInput) => aboutProject(ctx, params['id']) },
      response: deploymentView,
      detail: { summary: 'A deployment by its number in the project' },
    })
