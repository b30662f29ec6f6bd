import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import {
  auditPage,
  auditQuery,
  projectRequestPage,
  projectRequestQuery,
  projectTailQuery,
  requestPage,
  requestQuery,
  tailQuery,
} from './model.ts'
import { listLoggedRequests, listRequestsOfProject } from './requests.ts'
import { listAudit } from './service.ts'
import { tailOfProject, tailRequests } from './tail.ts'

export const auditRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/audit', tags: ['Logs'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listAudit(ctx, grant, query), {
      may: { action: 'workspace:administer' },
      query: auditQuery,
      response: auditPage,
      detail: { summary: 'Who changed what; filters action, projectId, actorId, from and to' },
    })

/** Requests to every site and to the admin: for global admins. spec: Global roles; contract §11. */
export const logRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/logs', tags: ['Logs'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listLoggedRequests(ctx, grant, query), {
      may: { action: 'workspace:administer' },
      query: requestQuery,
      response: requestPage,
      detail: { summary: 'Requests, newest first; addresses, queries and cookies are not kept' },
    })
    .get(
      '/tail',
      ({ grant, query, request }) => tailRequests(ctx, grant, query, request.headers.get('last-event-id')),
      {
        may: { action: 'workspace:administer' },
        query: tailQuery,
        detail: TAIL_DETAIL,
      },
    )

/** Those of one project. contract 17.7. */
export const projectLogRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/logs', tags: ['Logs'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, () => listRequestsOfProject(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'logs', 'analytics:read'),
        query: projectRequestQuery,
        response: projectRequestPage,
        detail: { summary: 'Requests to the sites of the project, newest first' },
      },
    )
    .get(
      '/tail',
      ({ grant, query, request }) => tailOfProject(ctx, grant, query, request.headers.get('last-event-id')),
      {
        may: { action: 'analytics:read', on: ({ params }: PathInput) => aboutProject(ctx, params['id']) },
        query: projectTailQuery,
        detail: TAIL_DETAIL,
      },
    )

const TAIL_DETAIL = {
  summary: 'Requests as they arrive, as server-sent events: request, and skipped when a reader is too slow',
  responses: {
    200: {
      description: 'The events, until either side ends the stream',
      content: { 'text/event-stream': { schema: { type: 'string' as const } } },
    },
  },
}
