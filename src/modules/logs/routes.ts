import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { projectView } from '../projects/model.ts'
import { belowOrProject, mayBelow } from '../projects/named.ts'
import { aboutProject } from '../projects/service.ts'
import { requireKnown, undoEntry } from '../undo/service.ts'
import {
  auditPage,
  auditQuery,
  projectRequestPage,
  projectRequestQuery,
  projectTailQuery,
  requestPage,
  requestQuery,
  tailQuery,
  undoView,
} from './model.ts'
import { listLoggedRequests, listRequestsOfProject } from './requests.ts'
import { listAudit, listProjectAudit } from './service.ts'
import { tailOfProject, tailRequests } from './tail.ts'

export const auditRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/audit', tags: ['Logs'] })
    .use(guard(ctx))
    .get('/', ({ grant, query }) => listAudit(ctx, grant, query), {
      may: { action: 'workspace:administer' },
      query: auditQuery,
      response: auditPage,
      detail: { summary: 'Who changed what; filters action, group, projectId, actorId, from and to' },
    })
    .post('/:entryId/undo', ({ grant, params }) => undoEntry(ctx, grant.caller, params.entryId), {
      may: mayUndoOf(ctx),
      response: undoView,
      detail: {
        summary: 'Undo a change',
        description:
          'For whoever may make that change by hand, and made it or may read the log that it stands in. 409 ' +
          '`CANNOT_UNDO`, `ALREADY_UNDONE` or `CHANGED_SINCE`, or what the change by hand would answer.',
      },
    })

/** Whoever knows an entry; the change itself decides the rest. */
const mayUndoOf = (ctx: Context) =>
  ({
    action: 'project:list',
    mustFind: ({ params }: PathInput, { caller }: Grant) =>
      requireKnown(ctx, caller, params['entryId'] ?? ''),
  }) as const

/** What was changed in a project. */
export const projectAuditRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/projects/:id/audit', tags: ['Logs'] })
    .use(guard(ctx))
    .get(
      '/',
      ({ grant, params, query }) =>
        belowOrProject(ctx, grant, params.id, () => listProjectAudit(ctx, grant, query)),
      {
        may: mayBelow(ctx, 'audit', 'audit:read'),
        query: auditQuery,
        response: t.Union([auditPage, projectView]),
        detail: { summary: 'Who changed what in a project; filters as for the whole log' },
      },
    )

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
