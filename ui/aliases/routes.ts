import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { ErrorDetail } from '../../src/domain/errors.ts'
import { isHtmlHandling } from '../../src/domain/html-handling.ts'
import { isCommitSha } from '../../src/domain/names.ts'
import { isProjectRole } from '../../src/domain/roles.ts'
import {
  type AliasChange,
  type AliasView,
  aliasHosts,
  changeAlias,
  checkAliasName,
  createAlias,
  deleteAlias,
  getAlias,
  historyOf,
  listAliases,
  rollBackAlias,
} from '../../src/modules/aliases/service.ts'
import { differencesBetween } from '../../src/modules/compare/service.ts'
import { findTarget } from '../../src/modules/deployments/find-target.ts'
import { getDeployment, listDeployments } from '../../src/modules/deployments/service.ts'
import { ruleSetsOfAlias } from '../../src/modules/rule-sets/service.ts'
import type { CertificateState } from '../../src/platform/certificates.ts'
import { page } from '../components/html.ts'
import { booleanOf, type Form, flawsOf, marked, UNREAD_BODY } from '../frame/form.ts'
import { queryOf, visitUrl } from '../frame/page-request.ts'
import { doneNotice, type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { aliasPage } from './alias.ts'
import { aliasesPage } from './aliases.ts'
import { movePage } from './move-alias.ts'
import { PREVIEW_NOTICES, previewIntents } from './preview-forms.ts'

/** The aliases of a project, and where they point. */
export const aliasPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/aliases', ({ request, params }) => showAliases(ctx, request, params.id))
    .post(
      '/projects/:id/aliases',
      ({ request, params }) => submitAliases(ctx, request, params.id),
      UNREAD_BODY,
    )
    .get('/projects/:id/aliases/:aliasId', ({ request, params }) => showAlias(ctx, request, params))
    .post(
      '/projects/:id/aliases/:aliasId',
      ({ request, params }) => submitAlias(ctx, request, params),
      UNREAD_BODY,
    )
    .get('/projects/:id/aliases/:aliasId/move', ({ request, params }) =>
      showMove(ctx, request, { ...params, toId: queryOf(request, 'to') }),
    )
    .post(
      '/projects/:id/aliases/:aliasId/move',
      ({ request, params }) => submitMove(ctx, request, params),
      UNREAD_BODY,
    )

function showAliases(ctx: Context, request: Request, id: string, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const query = { projectId: id, page: queryOf(request, 'page'), sort: 'updatedAt' }
  const found = listAliases(ctx, looking.grant, query)
  const { data: latest } = listDeployments(ctx, looking.grant, { projectId: id, limit: LATEST })
  const notices = doneNotice(request, { deleted: 'The alias was deleted.' })
  return page(aliasesPage({ ...looking, found, latest, failed, notices }), failed?.error.status)
}

/** The number of deployments to choose from. The commit of any other can be typed. */
const LATEST = '50'

const submitAliases = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'alias:write',
    intents: {
      create: {
        isOnce: true,
        run({ grant, form }) {
          const name = form.text('name').trim()
          const chosen = chosenDeployment(ctx, id, form.text('deployment').trim())
          const details = [
            ...flawsOf(() => checkAliasName(name)),
            ...(chosen === undefined ? [UNKNOWN_DEPLOYMENT] : []),
          ]
          if (details.length > 0) throw marked(...details)
          const alias = createAlias(ctx, grant, { name, ...chosen })
          return `/projects/${id}/aliases/${alias.id}?done=created`
        },
      },
    },
    show: (failed) => showAliases(ctx, request, id, failed),
  })

/** By its number, what an alias of that name shows, or its commit; undefined for what can be neither. */
function chosenDeployment(
  ctx: Context,
  projectId: string,
  text: string,
): { deploymentId: string } | { commitSha: string } | undefined {
  const found = findTarget(ctx, projectId, text)
  if (found !== undefined) return { deploymentId: found.id }
  return isCommitSha(text) ? { commitSha: text } : undefined
}

const UNKNOWN_DEPLOYMENT: ErrorDetail = {
  path: 'deployment',
  message: 'Enter the number of a deployment, such as #12, or at least the first 7 digits of its commit',
}

type Place = { id: string; aliasId: string }

function showAlias(ctx: Context, request: Request, { id, aliasId }: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, id)
  const history = historyOf(ctx, looking.grant, aliasId).slice(0, MAX_MOVES)
  const notices = doneNotice(request, {
    created: 'The alias was created.',
    saved: 'Saved.',
    moved: 'The alias was moved.',
    ...PREVIEW_NOTICES,
  })
  const alias = getAlias(ctx, looking.grant, aliasId)
  const ruleSets = ruleSetsOfAlias(ctx, looking.grant, aliasId)
  const certificate = certificateOf(ctx, alias)
  return page(
    aliasPage({
      ...looking,
      alias,
      visitUrl: visitUrl(ctx, request, {
        url: alias.url,
        isPublic: alias.isPublic ?? looking.project.isPublic,
      }),
      history,
      ruleSets,
      certificate,
      hosts: aliasHosts(ctx, looking.grant, aliasId),
      failed,
      notices,
    }),
    failed?.error.status,
  )
}

/** Requests a certificate even for a private alias, because whoever opens this page is about to visit it. */
function certificateOf(ctx: Context, { url }: AliasView): CertificateState {
  const { hostname } = new URL(url)
  ctx.certificates.visited(hostname)
  return ctx.certificates.stateOf(hostname)
}

const MAX_MOVES = 50

const submitAlias = (ctx: Context, request: Request, { id, aliasId }: Place) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'alias:write',
    intents: {
      ...previewIntents(ctx, id, (preview) => `/projects/${id}/aliases/${preview}`),
      settings: {
        action: 'alias:manage',
        run({ grant, form }) {
          changeAlias(ctx, grant, aliasId, settingsOf(form))
          return `/projects/${id}/aliases/${aliasId}?done=saved`
        },
      },
      delete: {
        action: 'alias:manage',
        isOnce: true,
        run({ grant }) {
          deleteAlias(ctx, grant, aliasId)
          return `/projects/${id}/aliases?done=deleted`
        },
      },
    },
    show: (failed) => showAlias(ctx, request, { id, aliasId }, failed),
  })

function settingsOf(form: Form): AliasChange {
  const role = form.text('requiredRole')
  const handling = form.text('htmlHandling')
  return {
    isPublic: booleanOf(form.text('isPublic')),
    isSpa: booleanOf(form.text('isSpa')),
    requiredRole: isProjectRole(role) ? role : null,
    isLocked: form.isTicked('isLocked'),
    htmlHandling: isHtmlHandling(handling) ? handling : null,
  }
}

async function showMove(
  ctx: Context,
  request: Request,
  { id, aliasId, toId }: Place & { toId: string | undefined },
  failed?: Failed,
): Promise<Response> {
  const looking = lookAt(ctx, request, id, 'alias:write')
  const alias = getAlias(ctx, looking.grant, aliasId)
  const to = getDeployment(ctx, looking.grant, toId ?? '')
  const from = getDeployment(ctx, looking.grant, alias.deploymentId)
  const comparison = await differencesBetween(ctx, looking.grant, from.id, to.id)
  const isBack =
    to.createdAt < from.createdAt &&
    historyOf(ctx, looking.grant, aliasId).some(({ deploymentId }) => deploymentId === to.id)
  return page(movePage({ ...looking, alias, from, to, comparison, isBack, failed }), failed?.error.status)
}

const submitMove = (ctx: Context, request: Request, { id, aliasId }: Place) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'alias:write',
    intents: {
      move: {
        run({ grant, form }) {
          changeAlias(ctx, grant, aliasId, { deploymentId: form.text('deploymentId') })
          return `/projects/${id}/aliases/${aliasId}?done=moved`
        },
      },
      rollback: {
        run({ grant, form }) {
          rollBackAlias(ctx, grant, aliasId, form.text('deploymentId'))
          return `/projects/${id}/aliases/${aliasId}?done=moved`
        },
      },
    },
    show: (failed) => showMove(ctx, request, { id, aliasId, toId: failed.values['deploymentId'] }, failed),
  })
