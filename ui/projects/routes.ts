import { Elysia } from 'elysia'
import type { Caller, Context } from '../../src/context.ts'
import { DAY_MS } from '../../src/domain/durations.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { listPreviews } from '../../src/modules/aliases/previews.ts'
import {
  type AliasView,
  historyOf,
  listAliases,
  namedMovesOf,
  productionAliases,
} from '../../src/modules/aliases/service.ts'
import { getProjectAnalytics } from '../../src/modules/analytics/service.ts'
import { suspendedKeys } from '../../src/modules/api-keys/service.ts'
import { type AttentionItem, attentionOf, listAttention } from '../../src/modules/attention/service.ts'
import { authorize, type Grant, mayDo } from '../../src/modules/auth/authorize.ts'
import { purgeProject } from '../../src/modules/cdn/service.ts'
import { lastDeploymentTimes } from '../../src/modules/deployments/latest.ts'
import { picturedDeployments, picturedProjects } from '../../src/modules/deployments/pictured.ts'
import { listDeployments } from '../../src/modules/deployments/service.ts'
import { listProjectNames, type ProjectView, pageOfProjects } from '../../src/modules/projects/service.ts'
import { getSetQuota } from '../../src/modules/quotas/service.ts'
import { PREVIEW_NOTICES, previewIntents } from '../aliases/preview-forms.ts'
import { suspendedKeysNotice } from '../components/key-fate.ts'
import { newProjectPanel, publishing } from '../deployments/panel-props.ts'
import { pageNumberOf, UNREAD_BODY } from '../frame/form.ts'
import { expectedFailure, queryOf, redirectTo, viewerOf, visitUrl } from '../frame/page-request.ts'
import { picturesOf } from '../frame/pictures.ts'
import {
  doneNotice,
  type Failed,
  type Intent,
  type Looking,
  lookAt,
  submitProjectForm,
} from '../frame/project-request.ts'
import { homePage, type ProjectRow, type View } from './home.ts'
import { isProduction, projectPage, type Visits } from './project.ts'

/** The list of projects, a new one, its overview, and publishing to it. */
export const projectPages = (ctx: Context) => {
  return new Elysia()
    .get('/', ({ request }) => showHome(ctx, request))
    .get('/projects', ({ request }) => showProjects(ctx, request))
    .get('/projects/:id', ({ request, params }) => showProject(ctx, request, params.id))
    .post('/projects/:id', ({ request, params }) => submitPreviews(ctx, request, params.id), UNREAD_BODY)
}

/** Whoever shortens an address ends here. */
function showProjects(ctx: Context, request: Request): Response {
  viewerOf(ctx, request)
  return redirectTo(302, '/')
}

const PER_PAGE = 25

async function showHome(ctx: Context, request: Request): Promise<Response> {
  const { caller, user } = viewerOf(ctx, request)
  if (user.isGuest) return redirectTo(303, '/account')
  const grant = authorize(ctx, caller, 'project:list', undefined, true)
  const search = queryOf(request, 'q')?.trim() ?? ''
  const asked = pageNumberOf(queryOf(request, 'page'))
  const { projects, ...place } = pageOfProjects(ctx, grant, { q: search, page: asked, perPage: PER_PAGE })
  const ids = projects.map(({ id }) => id)
  const times = lastDeploymentTimes(ctx, ids)
  const attention = await listAttention(ctx, grant)
  const attentionById = Map.groupBy(attention, ({ projectId }) => projectId)
  const productions = productionAliases(ctx, ids)
  const view = viewAsked(request)
  const pictures = picturesOf(ctx, request)
  const pictured = picturedProjects(ctx, ids)
  const rows = projects.map((project) => {
    const shown = pictured.get(project.id)
    return {
      ...project,
      lastDeploymentAt: times.get(project.id) ?? null,
      attention: attentionById.get(project.id) ?? [],
      address: project.url,
      url: visitUrlOf(ctx, request, project, productions.get(project.id)),
      pictureUrl: view === 'cards' ? pictures.of(shown) : null,
      iconUrl: pictures.icon(shown),
      production: productionToRollBack(ctx, caller, project.id, productions.get(project.id)),
    }
  })
  const answer = pictures.page(
    homePage({
      user,
      attention,
      namesById: namesOf(ctx, grant, attention),
      projects: rows,
      view,
      search,
      ...place,
      panel: creatorGrant(ctx, caller) === undefined ? null : newProjectPanel(ctx, user.email),
      notices: [
        ...doneNotice(request, { deleted: 'The project and all its content were deleted.' }),
        ...suspendedKeysNotice(user.role === 'admin' ? keysThatWait(ctx, caller) : []),
      ],
    }),
  )
  if (queryOf(request, 'view') === view) answer.headers.append('set-cookie', `svc_view=${view}${VIEW_COOKIE}`)
  return answer
}

/** Null for those who may not move it, and where there is none. */
function productionToRollBack(
  ctx: Context,
  caller: Caller,
  projectId: string,
  production: Pick<AliasView, 'id'> | undefined,
): ProjectRow['production'] {
  if (production === undefined || !mayDo(ctx, caller, 'alias:write', projectId, false)) return null
  return { id: production.id, history: namedMovesOf(ctx, production.id) }
}

const VIEW_COOKIE = '; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly'

/** How the projects are shown: as asked, else as the last time. */
function viewAsked(request: Request): View {
  const [, remembered] = /(?:^|;)\s*svc_view=(\w+)/.exec(request.headers.get('cookie') ?? '') ?? []
  const asked = queryOf(request, 'view') ?? remembered
  return asked === 'list' ? 'list' : 'cards'
}

function namesOf(ctx: Context, grant: Grant, items: readonly AttentionItem[]): ReadonlyMap<string, string> {
  const wanted = new Set(items.map(({ projectId }) => projectId))
  const named = wanted.size === 0 ? [] : listProjectNames(ctx, grant).filter(({ id }) => wanted.has(id))
  return new Map(named.map(({ id, displayName }) => [id, displayName]))
}

const keysThatWait = (ctx: Context, caller: Caller) =>
  suspendedKeys(ctx, authorize(ctx, caller, 'workspace:administer', undefined, true))

/**
 * Null until the project has an address. The address belongs to one alias, which may be private in a public project or
 * public in a private one.
 */
function visitUrlOf(
  ctx: Context,
  request: Request,
  project: ProjectView,
  alias: Pick<AliasView, 'isPublic'> | undefined,
): string | null {
  const { url } = project
  if (url === null) return null
  // For an alias not known here, go by the sign-in page, which leads to public sites too.
  const isPublic = alias !== undefined && (alias.isPublic ?? project.isPublic)
  return visitUrl(ctx, request, { url, isPublic })
}

const primaryOf = (ctx: Context, { id, url }: ProjectView, aliases: readonly AliasView[]) =>
  productionAliases(ctx, [id]).get(id) ?? aliases.find((one) => one.url === url)

/** Undefined for people who may not create projects. */
function creatorGrant(ctx: Context, caller: Caller): Grant | undefined {
  try {
    return authorize(ctx, caller, 'project:create', undefined, false)
  } catch (thrown) {
    if (expectedFailure(thrown).kind === 'forbidden') return undefined
    throw thrown
  }
}

const LATEST = '5'

const submitPreviews = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'alias:write',
    intents: { ...previewIntents(ctx, id, () => `/projects/${id}`), purge: purgeIntent(ctx, id) },
    show: (failed) => showProject(ctx, request, id, failed),
  })

const purgeIntent = (ctx: Context, id: string): Intent => ({
  action: 'cdn:purge',
  run({ grant }) {
    purgeProject(ctx, grant)
    return `/projects/${id}?done=purged`
  },
})

/** Where `production` pointed, for those who may move it. */
function historyToRollBack(ctx: Context, { grant, can }: Looking, aliases: readonly AliasView[]) {
  const production = can.moveAliases ? aliases.find(isProduction) : undefined
  return production === undefined ? [] : historyOf(ctx, grant, production.id)
}

async function showProject(ctx: Context, request: Request, id: string, failed?: Failed): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const { caller, grant, project } = looking
  const { data: aliases, pagination } = listAliases(ctx, grant, {
    ...{ projectId: project.id, limit: '50', sort: 'updatedAt' },
  })
  const latest = listDeployments(ctx, grant, { projectId: project.id, limit: LATEST })
  const pictures = picturesOf(ctx, request)
  const ids = latest.data.map((deployment) => deployment.id)
  const pictured = picturedDeployments(ctx, ids)
  return pictures.page(
    projectPage({
      ...looking,
      address: project.url,
      pictureUrl: pictures.of(picturedProjects(ctx, [project.id]).get(project.id)),
      pictures: Object.fromEntries(ids.map((one) => [one, pictures.of(pictured.get(one))])),
      project: { ...project, url: visitUrlOf(ctx, request, project, primaryOf(ctx, project, aliases)) },
      aliases,
      history: historyToRollBack(ctx, looking, aliases),
      aliasCount: pagination.total,
      previews: listPreviews(ctx, grant),
      refused: failed,
      deployments: latest.data,
      deploymentCount: latest.pagination.total,
      ...publishing(ctx, grant, project),
      visits: latest.data.length === 0 ? undefined : await visitsOf(ctx, caller, project.id),
      quota: await getSetQuota(ctx, grant, project.id),
      needsAttention: attentionOf(ctx, grant),
      canPurge: ctx.config.cdnKind !== null && mayDo(ctx, caller, 'cdn:purge', project.id),
      notices: doneNotice(request, {
        created: 'The project was created.',
        published: 'Published.',
        purged: 'The CDN is told to forget this project.',
        ...PREVIEW_NOTICES,
      }),
    }),
    failed?.error.status,
  )
}

const DAYS_SHOWN = 14

async function visitsOf(ctx: Context, caller: Caller, projectId: string): Promise<Visits | undefined> {
  if (!mayDo(ctx, caller, 'analytics:read', projectId)) return undefined
  const grant = authorize(ctx, caller, 'analytics:read', { projectId }, true)
  const from = isoTime(ctx.now() - DAYS_SHOWN * DAY_MS)
  return getProjectAnalytics(ctx, grant, { from, interval: 'day' })
}
