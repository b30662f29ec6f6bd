import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { invitationsView, newInvitationBody, newInvitationView, offerView } from './model.ts'
import { acceptInvitation, getInvitation, invite, listInvitations, revokeInvitation } from './service.ts'

/** Invitations as the project's admins see them. */
export const projectInvitationRoutes = (ctx: Context) => {
  const onProject = { on: ({ params }: PathInput) => aboutProject(ctx, params['id']) }
  const mayManage = { action: 'invitation:manage', ...onProject } as const
  return new Elysia({ prefix: '/api/projects/:id/invitations', tags: ['Invitations'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params }) =>
        belowOrProject(ctx, grant, params.id, () => ({ invitations: listInvitations(ctx, grant) })),
      {
        may: mayBelow(ctx, 'invitations', 'invitation:manage'),
        response: t.Union([invitationsView, projectView]),
        detail: { summary: 'Invitations to a project' },
      },
    )
    .post('/', ({ grant, body, status }) => status(201, invite(ctx, grant, body)), {
      may: mayManage,
      body: newInvitationBody,
      response: { 201: newInvitationView },
      detail: { summary: 'Invite an email; if it has no account, the response contains the link' },
    })
    .delete(
      '/:invitationId',
      ({ grant, params, status }) => {
        revokeInvitation(ctx, grant, params.invitationId)
        return status(204, undefined)
      },
      {
        may: mayManage,
        response: { 204: t.Undefined() },
        detail: { summary: 'Revoke an invitation' },
      },
    )
}

/** Invitations as the holder of the link sees them. */
export const invitationRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/invitations', tags: ['Invitations'] })
    .use(guard(ctx))
    .get('/:token', ({ params }) => getInvitation(ctx, params.token), {
      may: { action: 'invitation:see' },
      response: offerView,
      detail: { summary: 'What a link invites to', security: [] },
    })
    .post('/:token/accept', ({ grant, params }) => acceptInvitation(ctx, grant, params.token), {
      may: { action: 'account:use' },
      response: offerView,
      detail: { summary: 'Accept as the signed-in person' },
    })
