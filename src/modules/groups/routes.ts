import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import {
  groupListQuery,
  groupMemberView,
  groupPage,
  groupPatchBody,
  groupView,
  newGroupBody,
  newGroupMemberBody,
} from './model.ts'
import {
  addGroupMember,
  changeGroup,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  listMembersOfGroup,
  removeGroupMember,
} from './service.ts'

const may = { action: 'workspace:administer' } as const

const mayGroup = (ctx: Context) => ({
  ...may,
  mustFind: ({ params }: PathInput, grant: Grant) => getGroup(ctx, grant, params['id'] ?? ''),
})

export const groupRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/groups', tags: ['Groups'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listGroups(ctx, grant, query), {
      may,
      query: groupListQuery,
      response: groupPage,
      detail: { summary: 'Groups; filter by search (part of the name), sort by name or createdAt' },
    })
    .post('/', ({ grant, body, status }) => status(201, createGroup(ctx, grant, body)), {
      may,
      body: newGroupBody,
      response: { 201: groupView },
      detail: { summary: 'Make a group' },
    })
    .get('/:id', ({ grant, params }) => getGroup(ctx, grant, params.id), {
      may,
      response: groupView,
      detail: { summary: 'A group' },
    })
    .patch('/:id', ({ grant, params, body }) => changeGroup(ctx, grant, params.id, body), {
      may: mayGroup(ctx),
      body: groupPatchBody,
      response: groupView,
      detail: { summary: 'Rename or describe a group' },
    })
    .delete(
      '/:id',
      ({ grant, params, status }) => {
        deleteGroup(ctx, grant, params.id)
        return status(204, undefined)
      },
      { may, response: { 204: t.Undefined() }, detail: { summary: 'Delete a group and the roles it gave' } },
    )

/** Who is in a group. */
export const groupMemberRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/groups', tags: ['Groups'] })
    .use(guard(ctx))
    .get('/:id/members', ({ grant, params }) => ({ members: listMembersOfGroup(ctx, grant, params.id) }), {
      may,
      response: t.Object({ members: t.Array(groupMemberView) }),
      detail: { summary: 'Who is in a group' },
    })
    .post(
      '/:id/members',
      ({ grant, params, body, status }) => status(201, addGroupMember(ctx, grant, params.id, body.userId)),
      {
        may: mayGroup(ctx),
        body: newGroupMemberBody,
        response: { 201: groupMemberView },
        detail: { summary: 'Put a user into a group' },
      },
    )
    .delete(
      '/:id/members/:userId',
      ({ grant, params, status }) => {
        removeGroupMember(ctx, grant, params.id, params.userId)
        return status(204, undefined)
      },
      {
        may,
        response: { 204: t.Undefined() },
        detail: { summary: 'Remove a user from a group; the inherited roles end at once' },
      },
    )
