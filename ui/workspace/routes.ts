import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { given } from '../../src/domain/given.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { listBackups } from '../../src/modules/backups/service.ts'
import { getCdn } from '../../src/modules/cdn/service.ts'
import { groupPatchBody, newGroupBody } from '../../src/modules/groups/model.ts'
import {
  addGroupMember,
  changeGroup,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  listMemberPage,
  removeGroupMember,
} from '../../src/modules/groups/service.ts'
import { getHealthDetails } from '../../src/modules/health/details.ts'
import { probe } from '../../src/modules/health/service.ts'
import { listActors, listAudit } from '../../src/modules/logs/service.ts'
import { sendTestMail } from '../../src/modules/notices/test-mail.ts'
import { listProjectNames } from '../../src/modules/projects/service.ts'
import { settingsPatchBody } from '../../src/modules/settings/model.ts'
import { readSettings } from '../../src/modules/settings/read-settings.ts'
import { changeSettings } from '../../src/modules/settings/service.ts'
import { newUserBody, suspendBody, userDeleteQuery, userPatchBody } from '../../src/modules/users/model.ts'
import { getUserOverview, resetSecondStepOf } from '../../src/modules/users/overview.ts'
import {
  changeUser,
  createResetLink,
  createUser,
  deleteUser,
  getUser,
  listTwins,
  listUsers,
} from '../../src/modules/users/service.ts'
import { endUserSession, endUserSessions } from '../../src/modules/users/sessions.ts'
import { suspendUser, unsuspendUser } from '../../src/modules/users/suspension.ts'
import { page } from '../components/html.ts'
import { checkInput, type Form, UNREAD_BODY } from '../frame/form.ts'
import { pageOf } from '../frame/page-of.ts'
import { queryOf } from '../frame/page-request.ts'
import {
  administer,
  type Doing,
  doneNotice,
  type Failed,
  type Intent,
  queryText,
  requireTyped,
  submitWorkspaceForm,
} from '../frame/project-request.ts'
import { auditPage } from './audit.ts'
import { findAudit } from './audit-query.ts'
import { groupPage, groupsPage } from './groups.ts'
import { healthPage } from './health.ts'
import { type UserPageProps, userPage } from './person.ts'
import { workspaceSettingsPage } from './settings.ts'
import { type UsersPageProps, usersPage } from './users.ts'

/** The workspace, for global admins. spec: Global roles. */
export const workspacePages = (ctx: Context) =>
  new Elysia()
    .get('/admin/users', ({ request }) => showUsers(ctx, request, {}))
    .post('/admin/users', ({ request }) => submitUsers(ctx, request), UNREAD_BODY)
    .get('/admin/users/:id', ({ request, params }) => showUser(ctx, request, params.id, {}))
    .post('/admin/users/:id', ({ request, params }) => submitUser(ctx, request, params.id), UNREAD_BODY)
    .get('/admin/groups', ({ request }) => showGroups(ctx, request))
    .post('/admin/groups', ({ request }) => submitGroups(ctx, request), UNREAD_BODY)
    .get('/admin/groups/:id', ({ request, params }) => showGroup(ctx, request, params.id))
    .post('/admin/groups/:id', ({ request, params }) => submitGroup(ctx, request, params.id), UNREAD_BODY)
    .get('/admin/settings/auth', ({ request }) => showSettings(ctx, request))
    .post('/admin/settings/auth', ({ request }) => submitSettings(ctx, request), UNREAD_BODY)
    .get('/admin/audit', ({ request }) => showAudit(ctx, request))
    .get('/admin/health', ({ request }) => showHealth(ctx, request))
    .post('/admin/health', ({ request }) => submitHealth(ctx, request), UNREAD_BODY)

type UsersShown = Pick<UsersPageProps, 'created' | 'failed'>

function showUsers(ctx: Context, request: Request, shown: UsersShown): Response {
  const { user, grant } = administer(ctx, request)
  const search = queryOf(request, 'q')?.trim() ?? ''
  const query = { page: queryOf(request, 'page'), search, sort: 'email', order: 'asc' }
  const notices = doneNotice(request, { deleted: 'The account was deleted.' })
  const twins = listTwins(ctx, grant)
  return page(
    usersPage({ user, found: listUsers(ctx, grant, query), search, twins, notices, ...shown }),
    shown.failed?.error.status,
  )
}

const submitUsers = (ctx: Context, request: Request) =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      create: {
        isOnce: true,
        async run({ grant, form }) {
          const input = { email: form.text('email').trim(), role: form.text('role') }
          checkInput(ctx, request, newUserBody, input)
          const { email, inviteUrl = '', mail = 'not_configured' } = await createUser(ctx, grant, input)
          return showUsers(ctx, request, { created: { email, inviteUrl, mail } })
        },
      },
    },
    show: (failed) => showUsers(ctx, request, { failed }),
  })

type UserShown = Pick<UserPageProps, 'reset' | 'failed'>

function showUser(ctx: Context, request: Request, id: string, shown: UserShown): Response {
  const { user, grant } = administer(ctx, request)
  const notices = doneNotice(request, {
    saved: 'The role was saved.',
    ended: 'Signed out there.',
    'second-step': 'The second step is off, and they are signed out everywhere.',
    suspended: 'They are suspended and signed out everywhere.',
    unsuspended: 'They may sign in again.',
  })
  return page(
    userPage({ user, overview: getUserOverview(ctx, grant, id), notices, ...shown }),
    shown.failed?.error.status,
  )
}

function submitUser(ctx: Context, request: Request, id: string): Promise<Response> {
  return submitWorkspaceForm(ctx, request, {
    intents: {
      change: {
        run({ grant, form }) {
          const input = { role: form.text('role'), ...given({ keys: form.optional('keys') }) }
          checkInput(ctx, request, userPatchBody, input)
          changeUser(ctx, grant, id, input)
          return `/admin/users/${id}?done=saved`
        },
      },
      'reset-link': {
        isOnce: true,
        run: ({ grant }) => showUser(ctx, request, id, { reset: createResetLink(ctx, grant, id) }),
      },
      ...personIntents(ctx, request, id),
      delete: {
        isOnce: true,
        run({ grant, form }) {
          const input = given({ keys: form.optional('keys') })
          checkInput(ctx, request, userDeleteQuery, input)
          requireTyped(form, getUser(ctx, grant, id).email)
          deleteUser(ctx, grant, id, input.keys)
          return '/admin/users?done=deleted'
        },
      },
    },
    show: (failed) => showUser(ctx, request, id, { failed }),
  })
}

const personIntents = (ctx: Context, request: Request, id: string): Record<string, Intent> => {
  const to = (done: string) => `/admin/users/${id}?done=${done}`
  return {
    'end-session': {
      run({ grant, form }) {
        endUserSession(ctx, grant, id, form.text('sessionId'))
        return to('ended')
      },
    },
    'end-sessions': {
      run({ grant }) {
        endUserSessions(ctx, grant, id)
        return to('ended')
      },
    },
    'reset-second-step': {
      isOnce: true,
      run({ grant }) {
        resetSecondStepOf(ctx, grant, id)
        return to('second-step')
      },
    },
    suspend: {
      isOnce: true,
      run({ grant, form }) {
        const input = { reason: form.text('reason') }
        checkInput(ctx, request, suspendBody, input)
        suspendUser(ctx, grant, id, input.reason)
        return to('suspended')
      },
    },
    unsuspend: {
      isOnce: true,
      run({ grant }) {
        unsuspendUser(ctx, grant, id)
        return to('unsuspended')
      },
    },
  }
}

function showGroups(ctx: Context, request: Request, failed?: Failed): Response {
  const { user, grant } = administer(ctx, request)
  const found = listGroups(ctx, grant, { page: queryOf(request, 'page') })
  const notices = doneNotice(request, { deleted: 'The group was deleted.' })
  return page(groupsPage({ user, found, failed, notices }), failed?.error.status)
}

const groupInput = (form: Form) => ({
  name: form.text('name').trim(),
  description: form.optional('description')?.trim() ?? null,
})

const submitGroups = (ctx: Context, request: Request) =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      create: {
        isOnce: true,
        run({ grant, form }) {
          const input = groupInput(form)
          checkInput(ctx, request, newGroupBody, input)
          return `/admin/groups/${createGroup(ctx, grant, input).id}?done=created`
        },
      },
    },
    show: (failed) => showGroups(ctx, request, failed),
  })

function showGroup(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const { user, grant } = administer(ctx, request)
  const group = getGroup(ctx, grant, id)
  const members = pageOf(request, 'page', (asked) => listMemberPage(ctx, grant, id, asked))
  const notices = doneNotice(request, {
    created: 'The group was created.',
    saved: 'Saved.',
    added: 'Added.',
    removed: 'Removed from the group.',
  })
  return page(groupPage({ user, group, members, failed, notices }), failed?.error.status)
}

function submitGroup(ctx: Context, request: Request, id: string): Promise<Response> {
  return submitWorkspaceForm(ctx, request, {
    intents: {
      add: {
        isOnce: true,
        run(doing) {
          addGroupMember(ctx, doing.grant, id, userIdOf(ctx, doing))
          return `/admin/groups/${id}?done=added`
        },
      },
      remove: {
        isOnce: true,
        run({ grant, form }) {
          removeGroupMember(ctx, grant, id, form.text('userId'))
          return `/admin/groups/${id}${queryText({ done: 'removed', page: queryOf(request, 'page') })}`
        },
      },
      change: {
        run({ grant, form }) {
          const input = groupInput(form)
          checkInput(ctx, request, groupPatchBody, input)
          changeGroup(ctx, grant, id, input)
          return `/admin/groups/${id}?done=saved`
        },
      },
      delete: {
        isOnce: true,
        run({ grant }) {
          deleteGroup(ctx, grant, id)
          return '/admin/groups?done=deleted'
        },
      },
    },
    show: (failed) => showGroup(ctx, request, id, failed),
  })
}

function userIdOf(ctx: Context, { grant, form }: Doing): string {
  const [found] = listUsers(ctx, grant, { email: form.text('email') || '-', limit: '1' }).data
  if (found !== undefined) return found.id
  const message = 'No account has this email. Create one under Users.'
  throw new AppError('not_found', message, { details: [{ path: 'email', message }] })
}

function showSettings(ctx: Context, request: Request, failed?: Failed): Response {
  const { user } = administer(ctx, request)
  const notices = doneNotice(request, { saved: 'Saved. It takes effect immediately.' })
  return page(
    workspaceSettingsPage({ user, settings: readSettings(ctx), failed, notices }),
    failed?.error.status,
  )
}

function submitSettings(ctx: Context, request: Request): Promise<Response> {
  const save = (patchOf: (form: Form) => object) => ({
    run({ grant, form }: Doing) {
      const patch = patchOf(form)
      checkInput(ctx, request, settingsPatchBody, patch)
      changeSettings(ctx, grant, patch)
      return '/admin/settings/auth?done=saved'
    },
  })
  return submitWorkspaceForm(ctx, request, {
    intents: {
      membership: save((form) => ({ requireProjectMembership: form.isTicked('requireProjectMembership') })),
      registration: save((form) => ({ allowPublicSignups: form.isTicked('allowPublicSignups') })),
      pictures: save((form) => ({ pictures: form.isTicked('pictures') })),
      'private-sites': save((form) => ({ privateSiteResponse: form.text('privateSiteResponse') })),
    },
    show: (failed) => showSettings(ctx, request, failed),
  })
}

function showAudit(ctx: Context, request: Request): Response {
  const { user, caller, grant } = administer(ctx, request)
  const projects = listProjectNames(ctx, authorize(ctx, caller, 'project:list', undefined, true))
  const { list, status } = findAudit(request, (query) => listAudit(ctx, grant, query))
  return page(auditPage({ user, projects, actors: listActors(ctx, grant), ...list }), status)
}

async function showHealth(ctx: Context, request: Request, failed?: Failed): Promise<Response> {
  const { user, grant } = administer(ctx, request)
  const [{ checks }, { version, uptime }, backups] = await Promise.all([
    getHealthDetails(ctx, grant),
    probe(ctx),
    listBackups(ctx, grant),
  ])
  return page(
    healthPage({
      user,
      checks,
      version,
      uptime,
      adminUrl: ctx.adminUrl(),
      certificate: ctx.certificates.stateOf(ctx.config.adminHost),
      canMail: ctx.mail.isConfigured,
      backups,
      cdn: getCdn(ctx, grant),
      notices: doneNotice(request, { mailed: 'The mail server took the test mail.' }),
      failed,
    }),
    failed?.error.status,
  )
}

const submitHealth = (ctx: Context, request: Request): Promise<Response> =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      'mail-test': {
        isOnce: true,
        async run({ grant, form }) {
          const to = form.text('to').trim()
          await sendTestMail(ctx, grant, to === '' ? undefined : to)
          return '/admin/health?done=mailed'
        },
      },
    },
    show: (failed) => showHealth(ctx, request, failed),
  })
