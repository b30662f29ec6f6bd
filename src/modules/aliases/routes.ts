import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { bodyText } from '../../http/body-text.ts'
import { pageOf } from '../../http/pagination.ts'
import type { About } from '../auth/authorize.ts'
import { type BodyInput, guard, type PathInput } from '../auth/guard.ts'
import { aboutFilters, aboutProject, aboutProjectName } from '../projects/service.ts'
import { aliasPatchBody, aliasQuery, aliasView, historyView, newAliasBody, rollbackBody } from './model.ts'
import {
  aboutAlias,
  changeAlias,
  changesSettings,
  createAlias,
  deleteAlias,
  historyOf,
  listAliases,
  rollBackAlias,
} from './service.ts'

/** Contributors may move an alias; settings that protect or open it are for admins. contract §4. */
const actionFor = ({ body }: BodyInput) => (changesSettings(body) ? 'alias:manage' : 'alias:write')

export const aliasRoutes = (ctx: Context) => {
  const onFilters = { on: ({ query }: PathInput) => aboutFilters(ctx, query) }
  const onAlias = { on: ({ params }: PathInput) => aboutAlias(ctx, params['id']) }
  const onBody = ({ body }: BodyInput) => aboutNamedProject(ctx, body)
  return new Elysia({ prefix: '/api/aliases', tags: ['Aliases'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listAliases(ctx, grant, query), {
      may: { action: 'project:list', ...onFilters },
      query: aliasQuery,
      response: pageOf(aliasView),
      detail: { summary: 'Aliases of the projects that the caller may read' },
    })
    .post('/', ({ grant, body, status }) => status(201, createAlias(ctx, grant, body)), {
      may: { action: actionFor, onBody },
      body: newAliasBody,
      response: { 201: aliasView },
      detail: { summary: 'Point a new alias at a deployment' },
    })
    .patch('/:id', ({ grant, params, body }) => changeAlias(ctx, grant, params.id, body), {
      may: { action: actionFor, ...onAlias },
      body: aliasPatchBody,
      response: aliasView,
      detail: { summary: 'Move an alias or change its settings' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteAlias(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: { action: 'alias:manage', ...onAlias },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete an alias; its deployments stay' },
      },
    )
    .post('/:id/rollback', ({ grant, params, body }) => rollBackAlias(ctx, grant, params.id, body.to), {
      may: { action: 'alias:write', ...onAlias },
      body: rollbackBody,
      response: aliasView,
      detail: { summary: 'Move an alias back to the deployment that it showed before' },
    })
    .get('/:id/history', ({ grant, params }) => ({ history: historyOf(ctx, grant, params.id) }), {
      may: { action: 'project:read', ...onAlias },
      response: t.Object({ history: t.Array(historyView) }),
      detail: { summary: 'Where an alias pointed, the newest first' },
    })
}

function aboutNamedProject(ctx: Context, body: unknown): About {
  const projectId = bodyText(body, 'projectId')
  const [owner, repo] = [bodyText(body, 'owner'), bodyText(body, 'repo')]
  const isByName = projectId === undefined && owner !== undefined && repo !== undefined
  return isByName ? aboutProjectName(ctx, owner, repo) : aboutProject(ctx, projectId)
}
