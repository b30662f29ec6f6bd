import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import { errorResponse, toAppError } from '../../src/http/error-response.ts'
import { createRateLimiter, type RateState } from '../../src/http/rate-limit.ts'
import { authorize } from '../../src/modules/auth/authorize.ts'
import { pathsShownBy } from '../../src/modules/deployments/browse.ts'
import { heldRelease } from '../../src/modules/deployments/publish/held.ts'
import type { Published } from '../../src/modules/deployments/publish.ts'
import { getRouting } from '../../src/modules/deployments/routing/view.ts'
import { getDeployment } from '../../src/modules/deployments/service.ts'
import {
  parseOrder,
  type UploadFields,
  type UploadOrder,
} from '../../src/modules/deployments/upload/fields.ts'
import { publishDeployment, publishZipForm, uploadFieldsOf } from '../../src/modules/deployments/upload.ts'
import { newProjectBody } from '../../src/modules/projects/model.ts'
import { aboutProject, createProject } from '../../src/modules/projects/service.ts'
import { page } from '../components/html.ts'
import { newProjectPanel, publishing, type Refused } from '../deployments/panel-props.ts'
import { publishPage } from '../deployments/publish.ts'
import type { PublishedProps } from '../deployments/published.ts'
import { checkInput, UNREAD_BODY } from '../frame/form.ts'
import { queryOf, viewerOf, visitUrl } from '../frame/page-request.ts'
import { answerForm, lookAt, submitForm } from '../frame/project-request.ts'
import { newProjectPage } from './new-project.ts'

/** Publishing from the browser: to a project, and to one that it makes. contract 17.3. */
export const publishPages = (ctx: Context) => {
  const uploads = createRateLimiter(ctx.config.rateLimitUpload, ctx.now)
  const count: Count = (who) => uploads.take(who)
  return new Elysia()
    .get('/projects/new', ({ request }) => showNewProject(ctx, request))
    .post(
      '/projects/new',
      ({ request }) => (isUpload(request) ? publishNew(ctx, request, count) : submitProject(ctx, request)),
      UNREAD_BODY,
    )
    .get('/projects/:id/publish', ({ request, params }) => showPublish(ctx, request, params.id))
    .post(
      '/projects/:id/publish',
      ({ request, params }) => submitUpload(ctx, request, params.id, count),
      UNREAD_BODY,
    )
    .get('/projects/:id/publish/paths', ({ request, params }) => {
      const { grant } = lookAt(ctx, request, params.id, 'deployment:create')
      return Response.json({ paths: pathsShownBy(ctx, grant, queryOf(request, 'alias') ?? '') })
    })
}

type Count = (who: string) => RateState

const isUpload = ({ headers }: Request): boolean =>
  headers.get('content-type')?.startsWith('multipart/form-data') === true

function showNewProject(ctx: Context, request: Request, failed?: Refused): Response {
  const { caller, user } = viewerOf(ctx, request)
  authorize(ctx, caller, 'project:create', undefined, request.method === 'GET')
  return page(newProjectPage({ user, panel: newProjectPanel(ctx, user.email, failed) }), failed?.error.status)
}

const submitProject = (ctx: Context, request: Request): Promise<Response> =>
  submitForm(
    ctx,
    request,
    {
      intents: {
        'create-project': {
          isOnce: true,
          run({ grant, form }) {
            const text = (name: string) => form.text(name).trim()
            const input = {
              owner: text('owner'),
              name: text('repo'),
              isPublic: form.text('isPublic') === 'true',
            }
            checkInput(ctx, request, newProjectBody, input)
            return `/projects/${createProject(ctx, grant, input).id}?done=created`
          },
        },
      },
      show: ({ error, values }) => showNewProject(ctx, request, { error, values }),
    },
    (caller) => authorize(ctx, caller, 'project:create', undefined, false),
  )

/** Makes the project and publishes to it: both or neither. Scripts send files too, and want JSON. */
async function publishNew(ctx: Context, request: Request, count: Count): Promise<Response> {
  const { caller, user } = viewerOf(ctx, request)
  authorize(ctx, caller, 'project:create', undefined, false)
  const fields = uploadFieldsOf(request, { makesProject: true })
  const publish = async (): Promise<Published> => {
    refuseTooMany(ctx, count, user.id)
    if (queryOf(request, 'files') === 'true') return publishDeployment(ctx, request, fields)
    return publishZipForm(ctx, request, fields, unwrappingOrder)
  }
  if (request.headers.get('accept') === 'application/json') return toldToScript(ctx, request, publish)
  return answerForm(
    async () => endOf(await publish()),
    (error) => showNewProject(ctx, request, { error, values: typedOf(fields) }),
  )
}

async function toldToScript(
  ctx: Context,
  request: Request,
  publish: () => Promise<Published>,
): Promise<Response> {
  try {
    const { projectId, deployment } = await publish()
    return Response.json({ projectId, deploymentId: deployment.id }, { status: 201 })
  } catch (error) {
    return errorResponse(toAppError(ctx, error, request))
  }
}

const endOf = ({ projectId, deployment, unwrapped }: Published): string =>
  `/projects/${projectId}/publish?published=${deployment.id}${unwrapped === null ? '' : '&unwrapped=true'}`

function showPublish(ctx: Context, request: Request, id: string, failed?: Refused): Response {
  const looking = lookAt(ctx, request, id, 'deployment:create')
  const done = queryOf(request, 'published')
  return page(
    publishPage({
      ...looking,
      ...publishing(ctx, looking.grant, looking.project),
      failed,
      published: done === undefined ? undefined : publishedOf(ctx, request, looking, done),
    }),
    failed?.error.status,
    failed?.error.headers,
  )
}

function publishedOf(
  ctx: Context,
  request: Request,
  { grant, project }: Pick<ReturnType<typeof lookAt>, 'grant' | 'project'>,
  deploymentId: string,
): PublishedProps {
  const deployment = getDeployment(ctx, grant, deploymentId)
  const url = deployment.urls.alias ?? deployment.urls.version
  return {
    projectId: project.id,
    deployment,
    url,
    visitUrl: visitUrl(ctx, request, { url, isPublic: project.isPublic }),
    isUnwrapped: queryOf(request, 'unwrapped') === 'true',
    held: heldRelease(ctx, grant, deployment.id),
    problems: getRouting(ctx, grant, deployment.id, undefined).problems,
  }
}

/** The form for browsers without scripts: one zip. It counts towards the upload limit. contract §5.2. */
async function submitUpload(ctx: Context, request: Request, id: string, count: Count): Promise<Response> {
  const { caller, user } = viewerOf(ctx, request)
  authorize(ctx, caller, 'deployment:create', aboutProject(ctx, id), false)
  const fields = uploadFieldsOf(request)
  return answerForm(
    async () => {
      refuseTooMany(ctx, count, user.id)
      return endOf(await publishZipForm(ctx, request, fields, unwrappingOrder))
    },
    (error) => showPublish(ctx, request, id, { error, values: typedOf(fields) }),
  )
}

/** Takes a folder around everything away by itself, unless a folder with the site is named. contract 12.9. */
function unwrappingOrder(fields: UploadFields): UploadOrder {
  const order = parseOrder(fields)
  return { ...order, unwrap: order.unwrap || !order.basePath }
}

function refuseTooMany({ config }: Context, count: Count, who: string): void {
  if (config.rateLimitUpload === 0) return
  const { isOver, retryAfterSeconds } = count(who)
  if (!isOver) return
  throw new AppError('rate_limited', 'Too many uploads in the last minute. Wait a minute, then try again.', {
    headers: { 'retry-after': String(retryAfterSeconds) },
  })
}

/** The values as typed. An empty alias stays empty, so that the default alias is not moved by mistake. */
function typedOf(fields: UploadFields): Record<string, string> {
  const names = ['owner', 'repo', 'isPublic', 'alias', 'description', 'basePath']
  return Object.fromEntries(names.map((name) => [name, fields.first(name) ?? '']))
}
