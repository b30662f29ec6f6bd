import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { newOwnerBody, newProjectBody, projectPatchBody, projectQuery, projectView } from './model.ts'
import { belowOrProject, mayBelow, onlyPost } from './named.ts'
import {
  aboutProject,
  aboutProjectName,
  changeProject,
  createProject,
  deleteProject,
  getProject,
  listProjects,
  transferOwnership,
} from './service.ts'

export const projectRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  const onName = { on: ({ params }: PathInput) => aboutProjectName(ctx, params['id'], params['name']) }
  return new Elysia({ prefix: '/api/projects', tags: ['Projects'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, query: { q, limit } }) => ({
        projects: listProjects(ctx, grant, { q, limit: limit === undefined ? undefined : Number(limit) }),
      }),
      {
        may: { action: 'project:list' },
        query: projectQuery,
        response: t.Object({ projects: t.Array(projectView) }),
        detail: { summary: 'Projects that the caller has a role on' },
      },
    )
    .post('/', ({ grant, body, status }) => status(201, createProject(ctx, grant, body)), {
      may: { action: 'project:create' },
      body: newProjectBody,
      response: { 201: projectView },
      detail: { summary: 'Create a project; the caller becomes its owner' },
    })
    .get('/:id', ({ grant }) => getProject(ctx, grant), {
      may: { action: 'project:see', ...onProject },
      response: projectView,
      detail: { summary: 'A project by id' },
    })
    .get('/:id/:name', ({ grant }) => getProject(ctx, grant), {
      may: { action: 'project:see', ...onName },
      response: projectView,
      detail: { summary: 'A project by owner (in place of the id) and name' },
    })
    .patch('/:id', ({ grant, body }) => changeProject(ctx, grant, body), {
      may: { action: 'settings:manage', ...onProject },
      body: projectPatchBody,
      response: projectView,
      detail: { summary: 'Change the settings of a project' },
    })
    .get('/:id/transfer-ownership', ({ grant, params }) => belowOrProject(ctx, grant, params.id, onlyPost), {
      may: mayBelow(ctx, 'transfer-ownership', 'project:see'),
      response: projectView,
      detail: { summary: 'The project of that owner (in place of the id) and name' },
    })
    .post('/:id/transfer-ownership', ({ grant, body }) => transferOwnership(ctx, grant, body), {
      may: { action: 'ownership:transfer', ...onProject },
      body: newOwnerBody,
      response: projectView,
      detail: { summary: 'Make another person with a role or a membership the owner' },
    })
    .delete(
      '/:id',
      async ({ grant, status }) => {
        await deleteProject(ctx, grant)
        return status(204, undefined)
      },
      {
        may: { action: 'project:delete', ...onProject },
        response: { 204: t.Undefined() },
        detail: { summary: 'Delete a project with all that it holds' },
      },
    )
}
