import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { encodePath } from '../../src/domain/asset-path.ts'
import { AppError } from '../../src/domain/errors.ts'
import { isUuid } from '../../src/domain/uuid.ts'
import { createAlias, historyOf, listAliases } from '../../src/modules/aliases/service.ts'
import { differencesBetween } from '../../src/modules/compare/service.ts'
import { getFileDetail, hasStartPage, listFolder } from '../../src/modules/deployments/browse.ts'
import { heldRelease, releaseHeld } from '../../src/modules/deployments/publish/held.ts'
import { getRouting } from '../../src/modules/deployments/routing/view.ts'
import {
  aboutDeployment,
  type DeploymentView,
  deleteDeployment,
  deploymentNames,
  findNumbered,
  getDeployment,
  getDeploymentByNumber,
  listDeployments,
} from '../../src/modules/deployments/service.ts'
import { reportOf } from '../../src/modules/reports/service.ts'
import { withContents } from '../../src/platform/blob-store.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { queryOf, redirectTo, visitUrl } from '../frame/page-request.ts'
import { doneNotice, type Failed, type Looking, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { deploymentPage } from './deployment.ts'
import { deploymentsPage } from './deployments.ts'
import { filePage, folderPage } from './files.ts'
import { highlight } from './highlight.ts'
import type { WayBack } from './no-start-page.ts'
import { reportPage } from './report.ts'

/** The deployments of a project, and their files. */
export const deploymentPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/deployments', ({ request, params }) => showDeployments(ctx, request, params.id))
    .get('/projects/:id/deployments/:deploymentId', ({ request, params }) =>
      atNumber(ctx, request, params, (place) => showDeployment(ctx, request, place)),
    )
    .post(
      '/projects/:id/deployments/:deploymentId',
      ({ request, params }) => submitDeployment(ctx, request, params),
      UNREAD_BODY,
    )
    .get('/projects/:id/deployments/:deploymentId/report', ({ request, params }) =>
      atNumber(ctx, request, params, (place) => showReport(ctx, request, place)),
    )
    .get('/projects/:id/deployments/:deploymentId/files', ({ request, params }) =>
      atNumber(ctx, request, params, (place) => showFiles(ctx, request, place)),
    )

function showDeployments(ctx: Context, request: Request, id: string): Response {
  const looking = lookAt(ctx, request, id)
  const { grant, project } = looking
  const filters = {
    branch: queryOf(request, 'branch')?.trim() ?? '',
    commitSha: queryOf(request, 'commitSha')?.trim() ?? '',
    alias: queryOf(request, 'alias') ?? '',
  }
  const found = listDeployments(ctx, grant, {
    projectId: project.id,
    page: queryOf(request, 'page'),
    branch: filters.branch || undefined,
    commitSha: filters.commitSha || undefined,
    alias: filters.alias || undefined,
  })
  const aliases = listAliases(ctx, grant, { projectId: project.id, limit: '100', sort: 'name', order: 'asc' })
  return page(
    deploymentsPage({
      ...looking,
      found,
      filters,
      aliasNames: aliases.data.map(({ name }) => name),
      notices: doneNotice(request, { deleted: 'The deployment was deleted.' }),
    }),
  )
}

type Place = { id: string; deploymentId: string }

/** The address of a deployment has its number; the one with its id leads there. contract 17.1. */
function atNumber(
  ctx: Context,
  request: Request,
  { id, deploymentId: text }: Place,
  show: (place: Place) => Response | Promise<Response>,
): Response | Promise<Response> {
  const { grant } = lookAt(ctx, request, id)
  if (!isUuid(text)) return show({ id, deploymentId: getDeploymentByNumber(ctx, grant, text).id })
  const { number } = getDeployment(ctx, grant, text)
  const { pathname, search } = new URL(request.url)
  return redirectTo(302, pathname.replace(`/deployments/${text}`, `/deployments/${number}`) + search)
}

async function showDeployment(
  ctx: Context,
  request: Request,
  { id, deploymentId }: Place,
  failed?: Failed,
): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const deployment = getDeployment(ctx, looking.grant, deploymentId)
  const held = heldRelease(ctx, looking.grant, deploymentId)
  const done = held === null ? 'Published.' : 'Uploaded, and held back: see below.'
  return page(
    deploymentPage({
      ...looking,
      deployment,
      visitUrl: visitUrl(ctx, request, { url: deployment.urls.version, isPublic: looking.project.isPublic }),
      aliases: aliasesOf(ctx, looking),
      versions: versionsOf(ctx, looking, deployment),
      waysBack: hasStartPage(ctx, looking.grant, deploymentId) ? null : waysBack(ctx, looking, deployment),
      report: reportOf(ctx, deploymentId),
      held,
      before: await beforeOf(ctx, looking, deployment),
      failed,
      notices: doneNotice(request, {
        published: done,
        unwrapped: `${done} Everything was in one folder, which was taken away: its content is at the top.`,
        created: 'The alias was created.',
        released: 'Released, although checks failed.',
        answered: 'The alias shows it now.',
      }),
    }),
    failed?.error.status,
  )
}

function showReport(ctx: Context, request: Request, { id, deploymentId }: Place): Response {
  const looking = lookAt(ctx, request, id)
  const deployment = getDeployment(ctx, looking.grant, deploymentId)
  const report = reportOf(ctx, deploymentId)
  const formerId = report?.comparedWith?.deploymentId
  return page(
    reportPage({
      ...looking,
      deployment,
      report,
      former: formerId === undefined ? undefined : deploymentNames(ctx, [formerId]).get(formerId),
      inForce: getRouting(ctx, looking.grant, deploymentId, undefined),
    }),
  )
}

/** A SHA may be the beginning of a longer one. */
const versionsOf = (ctx: Context, { grant, project }: Looking, { commitSha }: DeploymentView) =>
  listDeployments(ctx, grant, { projectId: project.id, commitSha, limit: '100' }).data.filter(
    (one) => one.commitSha === commitSha,
  )

const aliasesOf = (ctx: Context, { grant, project }: Looking) =>
  listAliases(ctx, grant, { projectId: project.id, limit: '100', sort: 'name', order: 'asc' }).data

/** For each alias that points here: the latest deployment before with a start page. */
const waysBack = (ctx: Context, looking: Looking, { id }: DeploymentView): WayBack[] =>
  aliasesOf(ctx, looking)
    .filter(({ deploymentId }) => deploymentId === id)
    .flatMap((alias) => {
      const former = lastWithStartPage(ctx, looking, alias.id)
      return former === undefined ? [] : [{ alias, deployment: getDeployment(ctx, looking.grant, former) }]
    })

const lastWithStartPage = (ctx: Context, { grant, project }: Looking, aliasId: string): string | undefined =>
  historyOf(ctx, grant, aliasId)
    .slice(0, MAX_MOVES)
    .map(({ deploymentId }) => deploymentId)
    .filter((former) => aboutDeployment(ctx, former).projectId === project.id)
    .find((former) => hasStartPage(ctx, grant, former))

/** A site that is further back is hardly the one that is missed. */
const MAX_MOVES = 10

/** The deployment that its alias showed before; for a deployment that is not live, the one that is live now. */
async function beforeOf(ctx: Context, looking: Looking, deployment: DeploymentView) {
  const aliases = aliasesOf(ctx, looking)
  const own = aliases.find(({ deploymentId }) => deploymentId === deployment.id)
  const live = aliases.find(({ name }) => name === 'production') ?? aliases[0]
  const candidate =
    own === undefined
      ? live?.deploymentId
      : historyOf(ctx, looking.grant, own.id).find(({ deploymentId }) => deploymentId !== deployment.id)
          ?.deploymentId
  if (candidate === undefined || aboutDeployment(ctx, candidate).projectId !== looking.project.id) return null
  return {
    deployment: getDeployment(ctx, looking.grant, candidate),
    liveAs: own === undefined ? (live?.name ?? null) : null,
    comparison: await differencesBetween(ctx, looking.grant, candidate, deployment.id),
  }
}

const submitDeployment = (ctx: Context, request: Request, { id, deploymentId: text }: Place) => {
  const deploymentId = isUuid(text) ? text : (findNumbered(ctx, id, text) ?? '')
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'alias:write',
    intents: {
      'create-alias': {
        isOnce: true,
        run({ grant, form }) {
          createAlias(ctx, grant, { name: form.text('name').trim(), deploymentId })
          return `/projects/${id}/deployments/${text}?done=created`
        },
      },
      release: {
        action: 'deployment:create',
        isOnce: true,
        run({ grant, form }) {
          const isAnswer = heldRelease(ctx, grant, deploymentId)?.question !== undefined
          releaseHeld(ctx, grant, deploymentId, form.text('startPage'))
          return `/projects/${id}/deployments/${text}?done=${isAnswer ? 'answered' : 'released'}`
        },
      },
      delete: {
        action: 'deployment:delete',
        isOnce: true,
        run({ grant }) {
          deleteDeployment(ctx, grant, deploymentId)
          return `/projects/${id}/deployments?done=deleted`
        },
      },
    },
    show: (failed) => showDeployment(ctx, request, { id, deploymentId }, failed),
  })
}

/** `path` is a folder if it is empty or ends in `/`, else a file. */
async function showFiles(ctx: Context, request: Request, { id, deploymentId }: Place): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const deployment = getDeployment(ctx, looking.grant, deploymentId)
  const path = queryOf(request, 'path') ?? ''
  const { isPublic } = looking.project
  if (path === '' || path.endsWith('/')) {
    const folder = listFolder(ctx, looking.grant, deploymentId, path)
    return page(folderPage({ ...looking, deployment, path, folder }))
  }
  const file = await withContents(ctx, () => getFileDetail(ctx, looking.grant, deploymentId, path, isPublic))
  if (file === undefined) throw new AppError('not_found', 'This deployment has no such file.')
  const { owner, repo, commitSha } = deployment
  return page(
    filePage({
      ...looking,
      deployment,
      file,
      pieces: file.text === null ? null : await highlight(path, file.text),
      rawUrl: `/repo/${owner}/${repo}/${commitSha}/${encodePath(path)}`,
    }),
  )
}
