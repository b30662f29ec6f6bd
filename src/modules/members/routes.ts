import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { explainAccess } from './explain.ts'
import {
  explainQuery,
  explanationView,
  groupGrantBody,
  groupPermissionView,
  membersView,
  permissionsView,
  roleGrantBody,
  userPermissionView,
} from './model.ts'
import {
  getPermissions,
  grantGroupRole,
  grantRole,
  listMembers,
  removeMember,
  revokeGroupRole,
  revokeRole,
} from './permissions.ts'

const onProject = (ctx: Context) => ({ on: ({ params }: PathInput) => aboutProject(ctx, params['id']) })

/** Who has which role on a project. contract §4. */
export const permissionRoutes = (ctx: Context) => {
  const mayManage = { action: 'permission:manage', ...onProject(ctx) } as const
  return new Elysia({ prefix: '/api/projects/:id/permissions', tags: ['Permissions'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) => belowOrProject(ctx, grant, params.id, () => getPermissions(ctx, grant)),
      {
        may: mayBelow(ctx, 'permissions', 'permission:read'),
        response: t.Union([permissionsView, projectView]),
        detail: { summary: 'Direct roles, roles of groups, and the caller’s own' },
      },
    )
    .get('/explain', ({ grant, query }) => explainAccess(ctx, grant, query.userId), {
      may: { action: 'permission:read', ...onProject(ctx) },
      query: explainQuery,
      response: explanationView,
      detail: { summary: 'What a person may do on the project, and why' },
    })
    .post('/users', ({ grant, body, status }) => status(201, grantRole(ctx, grant, body)), {
      may: mayManage,
      body: roleGrantBody,
      response: { 201: userPermissionView },
      detail: { summary: 'Give a user a direct role, in place of the one held' },
    })
    .delete(
      '/users/:userId',
      ({ grant, params, status }) => {
        revokeRole(ctx, grant, params.userId)
        return status(204, undefined)
      },
      {
        may: mayManage,
        response: { 204: t.Undefined() },
        detail: { summary: 'Take a direct role away; the membership remains' },
      },
    )
    .post('/groups', ({ grant, body, status }) => status(201, grantGroupRole(ctx, grant, body)), {
      may: mayManage,
      body: groupGrantBody,
      response: { 201: groupPermissionView },
      detail: { summary: 'Give a group a role, in place of the one held' },
    })
    .delete(
      '/groups/:groupId',
      ({ grant, params, status }) => {
        revokeGroupRole(ctx, grant, params.groupId)
        return status(204, undefined)
      },
      {
        may: mayManage,
        response: { 204: t.Undefined() },
        detail: { summary: "Take a group's role away" },
      },
    )
}

/** Everybody with a membership row. */
export const memberRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/members', tags: ['Members'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ members: listMembers(ctx, grant) })),
      {
        may: mayBelow(ctx, 'members', 'permission:read'),
        response: t.Union([membersView, projectView]),
        detail: { summary: 'Members of a project' },
      },
    )
    .delete(
      '/:userId',
      ({ grant, params, status }) => {
        removeMember(ctx, grant, params.userId)
        return status(204, undefined)
      },
      {
        may: { action: 'permission:manage', ...onProject(ctx) },
        response: { 204: t.Undefined() },
        detail: { summary: 'Remove a member, with the direct role' },
      },
    )
