import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { DAY_MS } from '../../src/domain/durations.ts'
import { isoTime } from '../../src/domain/iso-time.ts'
import { getFailures } from '../../src/modules/analytics/failures.ts'
import { listRequestsOfProject, newestRequestId } from '../../src/modules/logs/requests.ts'
import { listProjectActors, listProjectAudit } from '../../src/modules/logs/service.ts'
import { page } from '../components/html.ts'
import { expectedFailure, queryOf } from '../frame/page-request.ts'
import { lookAt } from '../frame/project-request.ts'
import { findAudit } from '../workspace/audit-query.ts'
import { projectAuditPage } from './audit.ts'
import { errorsPage, SPANS, STATUSES } from './errors.ts'
import { requestsPage } from './requests.ts'

/** What happens in one project: what failed, every request, and every change. contract 17.7, 17.9. */
export const insightPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/errors', ({ request, params }) => showErrors(ctx, request, params.id))
    .get('/projects/:id/requests', ({ request, params }) => showRequests(ctx, request, params.id))
    .get('/projects/:id/audit', ({ request, params }) => showAudit(ctx, request, params.id))

const MOST = '50'

function showErrors(ctx: Context, request: Request, id: string): Response {
  const looking = lookAt(ctx, request, id, 'analytics:read')
  const days = SPANS.find((one) => one === queryOf(request, 'days')) ?? '1'
  const status = STATUSES.find((one) => one === queryOf(request, 'status')) ?? '5xx'
  const from = isoTime(ctx.now() - Number(days) * DAY_MS)
  const failures = getFailures(ctx, looking.grant, { from, status, limit: MOST })
  return page(errorsPage({ ...looking, failures, days, status }))
}

function showRequests(ctx: Context, request: Request, id: string): Response {
  const looking = lookAt(ctx, request, id, 'analytics:read')
  const { grant } = looking
  const text = (name: string) => queryOf(request, name)?.trim() ?? ''
  const filters = { host: text('host'), path: text('path'), status: text('status'), bots: text('bots') }
  try {
    const found = listRequestsOfProject(ctx, grant, { ...filters, page: queryOf(request, 'page') })
    return page(requestsPage({ ...looking, filters, found, newestId: newestRequestId(ctx, grant) }))
  } catch (thrown) {
    const error = expectedFailure(thrown)
    const nothing = { found: null, newestId: null, failed: error }
    return page(requestsPage({ ...looking, filters, ...nothing }), error.status)
  }
}

function showAudit(ctx: Context, request: Request, id: string): Response {
  const looking = lookAt(ctx, request, id, 'audit:read')
  const { grant } = looking
  const { list, status } = findAudit(request, (query) => listProjectAudit(ctx, grant, query))
  return page(projectAuditPage({ ...looking, actors: listProjectActors(ctx, grant), ...list }), status)
}
