import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import { AppError } from '../../src/domain/errors.ts'
import type { Grant } from '../../src/modules/auth/authorize.ts'
import {
  addRecord,
  changeRecord,
  getRecord,
  listRecords,
  removeRecord,
} from '../../src/modules/records/manage.ts'
import { getSchema } from '../../src/modules/schemas/service.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { expectedFailure, seeOther } from '../frame/page-request.ts'
import { schemaHref } from './data.ts'
import { newRecordPage, recordPage } from './record.ts'
import { recordsPage } from './records.ts'
import { type Doing, doneNotice, type Failed, lookAt, submitProjectForm } from '../frame/project-request.ts'
import { MAX_FORM_BYTES, readRecord } from './record-form.ts'
import {
  addedFilter,
  fromStart,
  isAdding,
  parseRecordsQuery,
  type RecordsQuery,
  recordsQueryText,
} from './record-query.ts'

/** The records of a schema: searching, viewing, editing and deleting. */
export const recordPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/data/:schemaId', ({ request, params }) => showRecords(ctx, request, params))
    .post(
      '/projects/:id/data/:schemaId',
      ({ request, params }) => submitRecords(ctx, request, params),
      UNREAD_BODY,
    )
    .get('/projects/:id/data/:schemaId/new', ({ request, params }) => showNewRecord(ctx, request, params))
    .post(
      '/projects/:id/data/:schemaId/new',
      ({ request, params }) => submitNewRecord(ctx, request, params),
      UNREAD_BODY,
    )
    .get('/projects/:id/data/:schemaId/:recordId', ({ request, params }) => showRecord(ctx, request, params))
    .post(
      '/projects/:id/data/:schemaId/:recordId',
      ({ request, params }) => submitRecord(ctx, request, params),
      UNREAD_BODY,
    )

const PER_PAGE = 25

type SchemaPlace = { id: string; schemaId: string }

async function showRecords(
  ctx: Context,
  request: Request,
  { id, schemaId }: SchemaPlace,
  failed?: Failed,
): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const schema = getSchema(ctx, looking.grant, schemaId)
  const notices = doneNotice(request, DONE)
  const base = { ...looking, schema, failed, notices }
  let asked = NOTHING_ASKED
  try {
    asked = parseRecordsQuery(request.url)
    if (isAdding(request.url)) return seeOther(schemaHref(id, schemaId, withAdded(asked, request.url)))
    const { found, query } = await find(ctx, looking.grant, schemaId, asked)
    return page(recordsPage({ ...base, found, query }), failed?.error.status)
  } catch (thrown) {
    const { message: problem, status: refusal } = expectedFailure(thrown)
    return page(recordsPage({ ...base, found: null, query: asked, problem }), refusal)
  }
}

const DONE = {
  created: 'The schema was created.',
  deleted: 'The record was deleted.',
  'deleted-selected': 'The selected records were deleted.',
}
const NOTHING_ASKED: RecordsQuery = { filters: [], sort: 'createdAt', order: 'desc', page: 1, offset: 0 }

function withAdded(query: RecordsQuery, url: string): string {
  const added = addedFilter(url)
  const filters = added === undefined ? query.filters : [...query.filters, added]
  return recordsQueryText(fromStart({ ...query, filters }))
}

/** Falls back to the last page if a later one is requested, because its records may have been deleted. */
async function find(ctx: Context, grant: Grant, schemaId: string, query: RecordsQuery) {
  const { sort, order, filters } = query
  const list = ({ page: at, offset }: RecordsQuery) =>
    listRecords(
      ctx,
      grant,
      schemaId,
      { page: at, limit: PER_PAGE, sort, order, ...(offset > 0 ? { offset } : {}) },
      filters,
    )
  const found = await list(query)
  const last = Math.max(1, found.pagination.pages)
  if (found.data.length > 0 || (query.offset === 0 && query.page <= last)) return { found, query }
  const lastPage = { ...query, page: last, offset: 0 }
  return { found: await list(lastPage), query: lastPage }
}

const submitRecords = (ctx: Context, request: Request, { id, schemaId }: SchemaPlace) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      'delete-selected': {
        async run(doing) {
          await removeSelected(ctx, schemaId, doing)
          const rest = recordsQueryText(parseRecordsQuery(request.url), { done: 'deleted-selected' })
          return schemaHref(id, schemaId, rest)
        },
      },
    },
    show: (failed) => showRecords(ctx, request, { id, schemaId }, failed),
  })

async function removeSelected(ctx: Context, schemaId: string, { grant, form }: Doing): Promise<void> {
  const ids = Object.keys(form.all()).flatMap((name) => /^selected\.(.+)$/.exec(name)?.[1] ?? [])
  if (ids.length === 0) throw new AppError('invalid', 'Select the records to delete.')
  // Records may already be gone, but their schema must exist.
  getSchema(ctx, grant, schemaId)
  const gone = await Promise.allSettled(ids.map((recordId) => removeRecord(ctx, grant, schemaId, recordId)))
  for (const one of gone) {
    // Somebody else has already deleted it, which is fine.
    if (one.status === 'rejected' && expectedFailure(one.reason).kind !== 'not_found') throw one.reason
  }
}

function showNewRecord(
  ctx: Context,
  request: Request,
  { id, schemaId }: SchemaPlace,
  failed?: Failed,
): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  return page(
    newRecordPage({ ...looking, schema: getSchema(ctx, looking.grant, schemaId), failed }),
    failed?.error.status,
  )
}

const submitNewRecord = (ctx: Context, request: Request, { id, schemaId }: SchemaPlace) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    maxFormBytes: MAX_FORM_BYTES,
    intents: {
      create: {
        isOnce: true,
        async run({ grant, form }) {
          const input = readRecord(form, getSchema(ctx, grant, schemaId).fields, null)
          const record = await addRecord(ctx, grant, schemaId, input)
          return schemaHref(id, schemaId, `/${record.id}?done=created`)
        },
      },
    },
    show: (failed) => showNewRecord(ctx, request, { id, schemaId }, failed),
  })

type Place = SchemaPlace & { recordId: string }

function showRecord(ctx: Context, request: Request, place: Place, failed?: Failed): Response {
  const looking = lookAt(ctx, request, place.id)
  const record = getRecord(ctx, looking.grant, place.schemaId, place.recordId)
  const notices = doneNotice(request, { created: 'The record was created.', saved: 'Saved.' })
  const schema = getSchema(ctx, looking.grant, place.schemaId)
  return page(recordPage({ ...looking, schema, record, failed, notices }), failed?.error.status)
}

const submitRecord = (ctx: Context, request: Request, place: Place) =>
  submitProjectForm(ctx, request, {
    projectId: place.id,
    action: 'traffic:configure',
    maxFormBytes: MAX_FORM_BYTES,
    intents: {
      save: { isOnce: true, run: (doing) => saveRecord(ctx, place, doing) },
      delete: {
        isOnce: true,
        async run({ grant }) {
          await removeRecord(ctx, grant, place.schemaId, place.recordId)
          return schemaHref(place.id, place.schemaId, '?done=deleted')
        },
      },
    },
    show: (failed) => showRecord(ctx, request, place, failed),
  })

async function saveRecord(ctx: Context, place: Place, { grant, form }: Doing): Promise<string> {
  const { id, schemaId, recordId } = place
  const record = getRecord(ctx, grant, schemaId, recordId)
  if (form.text('updatedAt') !== record.updatedAt)
    throw new AppError(
      'conflict',
      'Somebody changed this record in the meantime. Save again to overwrite their changes.',
    )
  const change = readRecord(form, getSchema(ctx, grant, schemaId).fields, record)
  if (Object.keys(change).length > 0) await changeRecord(ctx, grant, schemaId, recordId, change)
  return schemaHref(id, schemaId, `/${recordId}?done=saved`)
}
