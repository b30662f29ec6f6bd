import { Elysia, t } from 'elysia'
import type { Context } from '../../context.ts'
import { MAX_SYNC_BYTES } from '../../http/json-body.ts'
import { streamOfTexts } from '../../http/stream-of.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutSchema } from '../schemas/service.ts'
import { exportRecords } from './export.ts'
import { parseFilters } from './filters.ts'
import { addRecord, changeRecord, getRecord, listRecordsJson, removeRecord } from './manage.ts'
import { exportQuery, recordBody, recordPage, recordQuery, recordView } from './model.ts'

/** contract §9.4; rights: Configure traffic. */
export const recordRoutes = (ctx: Context) => {
  const onSchema = { on: ({ params }: PathInput) => aboutSchema(ctx, params['id']) }
  const mayRead = { action: 'project:read', ...onSchema } as const
  const mayWrite = { action: 'traffic:configure', ...onSchema, maxBodyBytes: MAX_SYNC_BYTES } as const
  return new Elysia({ prefix: '/api/schemas/:id/records', tags: ['Records'] })
    .use(guard(ctx))
    .get(
      '/',
      async ({ grant, params, query, request }) =>
        jsonResponse(await listRecordsJson(ctx, grant, params.id, query, filtersOf(request.url))),
      {
        may: mayRead,
        query: recordQuery,
        detail: {
          summary: 'Records; filter[field]=value or filter[field][gte]=value, sort by a field',
          description:
            'A page ends before its records pass 8 MiB, but not before the first: then it has `truncated` and `nextOffset`, ' +
            'and `offset` goes on there.',
          responses: {
            200: {
              description: 'Success',
              content: { 'application/json': { schema: recordPage as object } },
            },
          },
        },
      },
    )
    .post(
      '/',
      async ({ grant, params, body, status }) => status(201, await addRecord(ctx, grant, params.id, body)),
      {
        may: mayWrite,
        body: recordBody,
        response: { 201: recordView },
        detail: { summary: 'Create a record' },
      },
    )
    .get(
      '/export',
      ({ grant, params, query, request }) =>
        exportRecords(
          ctx,
          grant,
          params.id,
          { format: query.format ?? 'json', hasBom: query.bom === 'true' },
          filtersOf(request.url),
        ),
      {
        may: mayRead,
        query: exportQuery,
        detail: { summary: 'All records as CSV or JSON, streamed', responses: EXPORTED },
      },
    )
    .get('/:recordId', ({ grant, params }) => getRecord(ctx, grant, params.id, params.recordId), {
      may: mayRead,
      response: recordView,
      detail: { summary: 'A record' },
    })
    .patch(
      '/:recordId',
      ({ grant, params, body }) => changeRecord(ctx, grant, params.id, params.recordId, body),
      {
        may: mayWrite,
        body: recordBody,
        response: recordView,
        detail: { summary: 'Change fields of a record' },
      },
    )
    .delete(
      '/:recordId',
      async ({ grant, params, status }) => {
        await removeRecord(ctx, grant, params.id, params.recordId)
        return status(204, undefined)
      },
      { may: mayWrite, response: { 204: t.Undefined() }, detail: { summary: 'Delete a record' } },
    )
}

const jsonResponse = (parts: [string] | AsyncGenerator<string>): Response =>
  new Response(Array.isArray(parts) ? parts[0] : streamOfTexts(parts), {
    headers: { 'content-type': 'application/json' },
  })

const EXPORTED = {
  200: {
    description: 'The records; a cell of CSV that a spreadsheet would calculate begins with an apostrophe',
    content: {
      'application/json': { schema: { type: 'array' as const, items: { type: 'object' as const } } },
      'text/csv': { schema: { type: 'string' as const } },
    },
  },
}

const filtersOf = (url: string) => parseFilters(new URL(url).searchParams)
