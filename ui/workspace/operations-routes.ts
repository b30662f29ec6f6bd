import { resolve } from 'node:path'
import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { DAY_MS } from '../../src/domain/durations.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { findTargetError } from '../../src/domain/routing/redirect-rule.ts'
import { getMissing, redirectMissing } from '../../src/modules/analytics/missing.ts'
import { getProjectAnalytics, getWorkspaceAnalytics } from '../../src/modules/analytics/service.ts'
import { listBackups, makeBackup } from '../../src/modules/backups/service.ts'
import { getCdn } from '../../src/modules/cdn/service.ts'
import type { Explainer } from '../../src/modules/explain/service.ts'
import { listLoggedRequests, newestRequestId } from '../../src/modules/logs/requests.ts'
import { getMachines } from '../../src/modules/machines/service.ts'
import { getStorage } from '../../src/modules/storage/service.ts'
import { page } from '../components/html.ts'
import { marked, pageNumberOf, UNREAD_BODY } from '../frame/form.ts'
import { expectedFailure, queryOf } from '../frame/page-request.ts'
import {
  administer,
  doneNotice,
  type Failed,
  lookAt,
  submitProjectForm,
  submitWorkspaceForm,
} from '../frame/project-request.ts'
import { PERIODS, type Period, projectAnalyticsPage, workspaceAnalyticsPage } from '../projects/analytics.ts'
import { machinesPage } from './machines.ts'
import { backupsPage, logsPage, storagePage } from './operations.ts'

/** The use and the state of the workspace: analytics, requests, storage, machines, backups. contract §11. */
export const operationsPages = (ctx: Context, explainer: Explainer) =>
  new Elysia()
    .get('/projects/:id/analytics', ({ request, params }) =>
      showAnalytics(ctx, explainer, request, params.id),
    )
    .post(
      '/projects/:id/analytics',
      ({ request, params }) => submitAnalytics(ctx, explainer, request, params.id),
      UNREAD_BODY,
    )
    .get('/admin/analytics', async ({ request }) => {
      const { user, grant } = administer(ctx, request)
      const period = periodOf(request)
      const analytics = await getWorkspaceAnalytics(ctx, grant, { from: since(ctx, period) })
      return page(workspaceAnalyticsPage({ user, period, analytics }))
    })
    .get('/admin/storage', async ({ request }) => {
      const { user, grant } = administer(ctx, request)
      const at = pageNumberOf(queryOf(request, 'page'))
      return page(storagePage({ user, storage: await getStorage(ctx, grant), page: at }))
    })
    .get('/admin/machines', async ({ request }) => {
      const { user, grant } = administer(ctx, request)
      const found = await getMachines(ctx, grant)
      const hasSecret = ctx.config.nodeSecret !== null
      return page(machinesPage({ user, found, cdn: getCdn(ctx, grant), now: ctx.now(), hasSecret }))
    })
    .get('/admin/logs', ({ request }) => showLogs(ctx, request))
    .get('/admin/backups', ({ request }) => showBackups(ctx, request))
    .post('/admin/backups', ({ request }) => submitBackups(ctx, request), UNREAD_BODY)

async function showAnalytics(
  ctx: Context,
  explainer: Explainer,
  request: Request,
  id: string,
  failed?: Failed,
): Promise<Response> {
  const looking = lookAt(ctx, request, id, 'analytics:read')
  const period = periodOf(request)
  const query = { from: since(ctx, period) }
  const analytics = await getProjectAnalytics(ctx, looking.grant, query)
  const missing = await getMissing(ctx, explainer, looking.grant, query)
  const notices = doneNotice(request, { redirected: 'The redirect is live. You find it under Rules.' })
  const props = { ...looking, period, analytics, missing, failed, notices }
  return page(projectAnalyticsPage(props), failed?.error.status)
}

const submitAnalytics = (ctx: Context, explainer: Explainer, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'analytics:read',
    intents: {
      redirect: {
        action: 'traffic:configure',
        isOnce: true,
        async run({ grant, form }) {
          const target = form.text('target').trim()
          const flaw = findTargetError(target)
          if (flaw !== null) throw marked({ path: 'target', message: flaw })
          await redirectMissing(ctx, grant, { path: form.text('path'), target })
          return `/projects/${id}/analytics?days=${periodOf(request)}&done=redirected`
        },
      },
    },
    show: (failed) => showAnalytics(ctx, explainer, request, id, failed),
  })

const periodOf = (request: Request): Period =>
  PERIODS.find((period) => period === queryOf(request, 'days')) ?? '30'

const since = (ctx: Context, period: Period): string => isoTime(ctx.now() - Number(period) * DAY_MS)

function showLogs(ctx: Context, request: Request): Response {
  const { user, grant } = administer(ctx, request)
  const text = (name: string) => queryOf(request, name)?.trim() ?? ''
  const place = text('place') || 'sites'
  const filters = {
    place,
    host: text('host'),
    path: text('path'),
    status: text('status'),
    bots: text('bots'),
  }
  try {
    const found = listLoggedRequests(ctx, grant, { ...filters, page: queryOf(request, 'page') })
    return page(logsPage({ user, filters, found, newestId: newestRequestId(ctx, grant) }))
  } catch (thrown) {
    const error = expectedFailure(thrown)
    return page(logsPage({ user, filters, found: null, newestId: null, failed: error }), error.status)
  }
}

async function showBackups(ctx: Context, request: Request, failed?: Failed): Promise<Response> {
  const { user, grant } = administer(ctx, request)
  const notices = doneNotice(request, {
    made: 'The backup was written.',
    running: 'The backup is still running. You can leave this page.',
  })
  const dataDir = resolve(ctx.config.dataDir)
  return page(
    backupsPage({ user, backups: await listBackups(ctx, grant), dataDir, failed, notices }),
    failed?.error.status,
  )
}

const submitBackups = (ctx: Context, request: Request): Promise<Response> =>
  submitWorkspaceForm(ctx, request, {
    intents: {
      make: {
        isOnce: true,
        async run({ grant }) {
          const made = await makeBackup(ctx, grant)
          return `/admin/backups?done=${made === undefined ? 'running' : 'made'}`
        },
      },
    },
    show: (failed) => showBackups(ctx, request, failed),
  })
