import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { guard } from '../auth/guard.ts'
import { auditPage, auditQuery, requestPage, requestQuery, tailQuery } from './model.ts'
import { listLoggedRequests } from './requests.ts'
import { listAudit } from './service.ts'
import { tailRequests } from './tail.ts'

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
        detail: {
          summary:
            'Requests as they arrive, as server-sent events: request, and skipped when a reader is too slow',
          responses: {
            200: {
              description: 'The events, until either side ends the stream',
              content: { 'text/event-stream': { schema: { type: 'string' } } },
            },
          },
        },
      },
    )
