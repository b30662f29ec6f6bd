import { Elysia, t } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { isProjectRole, type ProjectRole } from '../../src/domain/roles.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { emailField } from '../../src/modules/auth/model.ts'
import { listGroups } from '../../src/modules/groups/service.ts'
import { invite, listInvitationPage, revokeInvitation } from '../../src/modules/invitations/service.ts'
import { explainAccess } from '../../src/modules/members/explain.ts'
import {
  getPermissions,
  grantGroupRole,
  grantRole,
  listMembers,
  removeMember,
  revokeGroupRole,
  revokeRole,
} from '../../src/modules/members/permissions.ts'
import { projectRole } from '../../src/modules/projects/model.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, marked, pageNumberOf, UNREAD_BODY } from '../frame/form.ts'
import { pageOf } from '../frame/page-of.ts'
import { queryOf } from '../frame/page-request.ts'
import {
  type Doing,
  doneNotice,
  type Failed,
  type Looking,
  lookAt,
  queryText,
  submitProjectForm,
} from '../frame/project-request.ts'
import { type PeoplePageProps, peoplePage } from './people.ts'
import { personPage } from './person.ts'

/** Who has access to a project and why, and who is invited. */
export const peoplePages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/people', ({ request, params }) => showPeople(ctx, request, params.id, {}))
    .post('/projects/:id/people', ({ request, params }) => submitPeople(ctx, request, params.id), UNREAD_BODY)
    .get('/projects/:id/people/:userId', ({ request, params }) => showPerson(ctx, request, params))
    .post(
      '/projects/:id/people/:userId',
      ({ request, params }) => submitPerson(ctx, request, params),
      UNREAD_BODY,
    )

type Shown = Pick<PeoplePageProps, 'invited' | 'failed'>

function showPeople(ctx: Context, request: Request, id: string, shown: Shown): Response {
  const looking = lookAt(ctx, request, id, 'permission:read')
  const { grant, can } = looking
  return page(
    peoplePage({
      ...looking,
      permissions: getPermissions(ctx, grant),
      members: listMembers(ctx, grant),
      invitations: can.managePeople ? invitationsOf(ctx, request, looking) : null,
      page: pageNumberOf(queryOf(request, 'page')),
      groups: groupsFor(ctx, looking),
      notices: doneNotice(request, {
        granted: 'The role was given.',
        revoked: 'The group no longer has a role here.',
        withdrawn: 'The invitation was withdrawn. Its link no longer works.',
        removed: 'Removed from the project.',
      }),
      ...shown,
    }),
    shown.failed?.error.status,
  )
}

function invitationsOf(
  ctx: Context,
  request: Request,
  { caller, project }: Looking,
): PeoplePageProps['invitations'] {
  const grant = authorize(ctx, caller, 'invitation:manage', { projectId: project.id }, true)
  return pageOf(request, 'invitations', (asked) => listInvitationPage(ctx, grant, asked))
}

/** The pages of both lists, so that withdrawing an invitation does not lead back to the first ones. */
const placeOf = (request: Request) => ({
  page: queryOf(request, 'page'),
  invitations: queryOf(request, 'invitations'),
})

/** Groups belong to the workspace, so only its administrators may list them. */
function groupsFor(ctx: Context, { user, caller }: Looking): PeoplePageProps['groups'] {
  if (user.role !== 'admin') return null
  const grant = authorize(ctx, caller, 'workspace:administer', undefined, true)
  return listGroups(ctx, grant, { limit: '100' }).data
}

const submitPeople = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'permission:manage',
    intents: {
      invite: {
        action: 'invitation:manage',
        isOnce: true,
        run: (doing) => inviteSomebody(ctx, request, id, doing),
      },
      'grant-group': {
        isOnce: true,
        run({ grant, form }) {
          grantGroupRole(ctx, grant, { groupId: form.text('groupId').trim(), role: roleOf(form) })
          return `/projects/${id}/people?done=granted`
        },
      },
      'revoke-group': {
        isOnce: true,
        run({ grant, form }) {
          revokeGroupRole(ctx, grant, form.text('groupId'))
          return `/projects/${id}/people?done=revoked`
        },
      },
      'revoke-invitation': {
        action: 'invitation:manage',
        isOnce: true,
        run({ grant, form }) {
          revokeInvitation(ctx, grant, form.text('invitationId'))
          return `/projects/${id}/people${queryText({ done: 'withdrawn', ...placeOf(request) })}`
        },
      },
    },
    show: (failed) => showPeople(ctx, request, id, { failed }),
  })

const invitationBody = t.Object({ email: emailField, role: projectRole })

/** Only this response shows the link, so it is not a redirect. */
function inviteSomebody(ctx: Context, request: Request, id: string, { grant, form }: Doing): Response {
  const input = { email: form.text('email').trim(), role: roleOf(form) }
  checkInput(ctx, request, invitationBody, input)
  const { email, role, url = null, mail = null } = invite(ctx, grant, input)
  return showPeople(ctx, request, id, { invited: { email, role, url, mail } })
}

function roleOf(form: Form): ProjectRole {
  const role = form.text('role')
  if (isProjectRole(role)) return role
  throw marked({ path: 'role', message: 'Choose one from the list.' })
}

type Place = { id: string; userId: string }

function showPerson(ctx: Context, request: Request, { id, userId }: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id, 'permission:read')
  const person = explainAccess(ctx, looking.grant, userId)
  requireTied(looking, person)
  const notices = doneNotice(request, { granted: 'The role was given.', revoked: 'The role was removed.' })
  return page(personPage({ ...looking, person, failed, notices }), failed?.error.status)
}

/** People who cannot manage people must not learn about users outside the project. */
function requireTied({ can }: Looking, person: ReturnType<typeof explainAccess>): void {
  if (can.managePeople || person.effectiveRole !== null || person.membership.isMember) return
  throw new AppError('not_found', 'There is no such user')
}

const submitPerson = (ctx: Context, request: Request, { id, userId }: Place) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'permission:manage',
    intents: {
      grant: {
        isOnce: true,
        run({ grant, form }) {
          grantRole(ctx, grant, { userId, role: roleOf(form) })
          return `/projects/${id}/people/${userId}?done=granted`
        },
      },
      revoke: {
        isOnce: true,
        run({ grant }) {
          revokeRole(ctx, grant, userId)
          return `/projects/${id}/people/${userId}?done=revoked`
        },
      },
      remove: {
        isOnce: true,
        run({ grant }) {
          removeMember(ctx, grant, userId)
          return `/projects/${id}/people?done=removed`
        },
      },
    },
    show: (failed) => showPerson(ctx, request, { id, userId }, failed),
  })
