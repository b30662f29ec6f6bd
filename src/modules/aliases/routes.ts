import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { bodyText } from '../../http/body-text.ts'
import { pageOf } from '../../http/pagination.ts'
import type { About } from '../auth/authorize.ts'
import { type BodyInput, guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutFilters, aboutProject, aboutProjectName } from '../projects/service.ts'
import {
  aliasPatchBody,
  aliasQuery,
  aliasView,
  historyView,
  newAliasBody,
  previewView,
  rollbackBody,
} from './model.ts'
import { closePreview, listPreviews } from './previews.ts'
import {
  aboutAlias,
  changeAlias,
  changesSettings,
  createAlias,
  deleteAlias,
  historyOf,
  isPreview,
  listAliases,
  rollBackAlias,
} from './service.ts'

/** The end of a preview is for whoever may move it; to give an alias one is for admins. contract 16 §2. */
const patchAction =
  (ctx: Context) =>
  ({ params, body }: BodyInput) => {
    const setsEnd = typeof body === 'object' && body !== null && 'expiresAt' in body
    return setsEnd && !isPreview(ctx, params['id']) ? 'alias:manage' : actionFor({ body })
  }

const deleteAction =
  (ctx: Context) =>
  ({ params }: PathInput) =>
    isPreview(ctx, params['id']) ? 'preview:end' : 'alias:manage'

/** Contributors may move an alias; settings that protect or open it are for admins. contract §4. */
const actionFor = ({ body }: Pick<BodyInput, 'body'>) =>
  changesSettings(body) ? 'alias:manage' : 'alias:write'

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
      may: { action: patchAction(ctx), ...onAlias },
      body: aliasPatchBody,
      response: aliasView,
      detail: { summary: 'Move an alias or change its settings or its end' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteAlias(ctx, grant, params.id)
        return status(204, undefined)
      },
      {
        may: {
          action: deleteAction(ctx),
          ...onAlias,
        },
        response: { 204: t.Undefined() },
        detail: {
          summary: 'Delete an alias; its deployments stay. Ends a preview, with what was published as it',
        },
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

/** The previews of a project. contract 16 §2. */
export const previewRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  return new Elysia({ prefix: '/api/projects/:id/previews', tags: ['Aliases'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ previews: listPreviews(ctx, grant) })),
      {
        may: mayBelow(ctx, 'previews', 'project:read'),
        response: t.Union([t.Object({ previews: t.Array(previewView) }), projectView]),
        detail: { summary: 'The previews of a project, the soonest end first' },
      },
    )
    .delete(
      '/:name',
      ({ grant, params, status }) => {
        closePreview(ctx, grant, params.name)
        return status(204, undefined)
      },
      {
        may: { action: 'preview:end', ...onProject },
        response: { 204: t.Undefined() },
        detail: { summary: 'End a preview, with what was published as it and no other alias ever showed' },
      },
    )
}

function aboutNamedProject(ctx: Context, body: unknown): About {
  const projectId = bodyText(body, 'projectId')
  const [owner, repo] = [bodyText(body, 'owner'), bodyText(body, 'repo')]
  const isByName = projectId === undefined && owner !== undefined && repo !== undefined
  return isByName ? aboutProjectName(ctx, owner, repo) : aboutProject(ctx, projectId)
}
