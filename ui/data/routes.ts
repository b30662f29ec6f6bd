import { Elysia } from 'elysia'
import type { Context } from '../../src/context.ts'
import type { AppError } from '../../src/domain/errors.ts'
import { SCHEMA_BY_NAME } from '../../src/domain/schema-fields.ts'
import { listSchemaUses, type SchemaUse } from '../../src/modules/proxy-rules/uses.ts'
import { isInUse, usageOf } from '../../src/modules/records/usage.ts'
import {
  changeSchema,
  createSchema,
  deleteSchema,
  getSchema,
  listSchemas,
  type SchemaView,
} from '../../src/modules/schemas/service.ts'
import { page } from '../components/html.ts'
import { UNREAD_BODY } from '../frame/form.ts'
import { expectedFailure } from '../frame/page-request.ts'
import { dataPage, schemaHref } from './data.ts'
import { newSchemaPage, schemaPage } from './schema.ts'
import {
  type Doing,
  doneNotice,
  type Failed,
  lookAt,
  requireTyped,
  submitProjectForm,
} from '../frame/project-request.ts'
import { EMPTY_ROW, type FieldRow, readFields, rowsOfFields, rowsOfForm } from './schema-form.ts'

/** The schemas of a project, for the data of its pipelines. */
export const dataPages = (ctx: Context) =>
  new Elysia()
    .get('/projects/:id/data', ({ request, params }) => showData(ctx, request, params.id))
    .get('/projects/:id/data/new', ({ request, params }) => showNewSchema(ctx, request, params.id, {}))
    .post(
      '/projects/:id/data/new',
      ({ request, params }) => submitNewSchema(ctx, request, params.id),
      UNREAD_BODY,
    )
    .get('/projects/:id/data/:schemaId/schema', ({ request, params }) => showSchema(ctx, request, params, {}))
    .post(
      '/projects/:id/data/:schemaId/schema',
      ({ request, params }) => submitSchema(ctx, request, params),
      UNREAD_BODY,
    )

/** How many rows for new fields the form has at first, and how many "More fields" adds. */
const NEW_ROWS = 3

const withRows = (rows: readonly FieldRow[], more: number): FieldRow[] => [
  ...rows,
  ...Array.from({ length: more }, () => EMPTY_ROW),
]

async function showData(ctx: Context, request: Request, id: string): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const uses = listSchemaUses(ctx, looking.grant)
  const schemas = await Promise.all(
    listSchemas(ctx, looking.grant).map(async (schema) => ({
      ...schema,
      usage: await usageOf(ctx, looking.grant, schema.id),
      uses: usesOf(uses, schema),
    })),
  )
  const notices = doneNotice(request, { deleted: 'The schema and its records were deleted.' })
  return page(dataPage({ ...looking, schemas, apiUrl: ctx.adminUrl(), notices }))
}

const usesOf = (uses: ReturnType<typeof listSchemaUses>, { id, name }: SchemaView): SchemaUse[] => [
  ...(uses.get(id) ?? []),
  ...(uses.get(`${SCHEMA_BY_NAME}${name}`) ?? []),
]

type Shown = { failed?: Failed; moreRows?: number; removing?: readonly string[] }

function showNewSchema(ctx: Context, request: Request, id: string, shown: Shown): Response {
  const looking = lookAt(ctx, request, id, 'traffic:configure')
  const { failed, moreRows = 0 } = shown
  const rows = failed === undefined ? withRows([], NEW_ROWS) : withRows(rowsOfForm(failed.values), moreRows)
  const name = failed?.values['name'] ?? ''
  return page(
    newSchemaPage({ ...looking, rows, name, failed: moreRows > 0 ? undefined : failed }),
    failed?.error.status,
  )
}

const submitNewSchema = (ctx: Context, request: Request, id: string) =>
  submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      more: { run: ({ form }) => showNewSchema(ctx, request, id, moreOf(form.all())) },
      save: {
        isOnce: true,
        run({ grant, form }) {
          const { fields, inRows } = readFields(form, [])
          const input = { name: form.text('name').trim(), fields }
          const schema = inForm(inRows, () => createSchema(ctx, grant, input))
          return `${schemaHref(id, schema.id)}?done=created`
        },
      },
    },
    show: (failed) => showNewSchema(ctx, request, id, { failed }),
  })

/** The form as typed, with more rows. */
const moreOf = (values: Readonly<Record<string, string>>): Shown => ({
  failed: { intent: 'more', error: { message: '' }, values },
  moreRows: NEW_ROWS,
})

function inForm<T>(inRows: (error: AppError) => AppError, run: () => T): T {
  try {
    return run()
  } catch (thrown) {
    throw inRows(expectedFailure(thrown))
  }
}

type Place = { id: string; schemaId: string }

async function showSchema(
  ctx: Context,
  request: Request,
  { id, schemaId }: Place,
  shown: Shown,
): Promise<Response> {
  const looking = lookAt(ctx, request, id)
  const schema = getSchema(ctx, looking.grant, schemaId)
  const { failed, moreRows = 0, removing = [] } = shown
  const typed = failed === undefined || failed.intent === 'delete' ? [] : rowsOfForm(failed.values)
  const rows = typed.length === 0 ? withRows(rowsOfFields(schema.fields), 1) : withRows(typed, moreRows)
  return page(
    schemaPage({
      ...looking,
      schema,
      name: shown.failed?.values['name'] ?? schema.name,
      usage: await usageOf(ctx, looking.grant, schemaId),
      uses: usesOf(listSchemaUses(ctx, looking.grant), schema),
      rows,
      removing,
      failed: moreRows > 0 ? undefined : failed,
      notices: doneNotice(request, { saved: 'Saved.' }),
    }),
    failed?.error.status,
  )
}

const submitSchema = (ctx: Context, request: Request, place: Place) => {
  const { id, schemaId } = place
  return submitProjectForm(ctx, request, {
    projectId: id,
    action: 'traffic:configure',
    intents: {
      more: { run: ({ form }) => showSchema(ctx, request, place, moreOf(form.all())) },
      save: { run: (doing) => saveSchema(ctx, request, place, doing) },
      delete: {
        isOnce: true,
        async run({ grant, form }) {
          const { records } = await usageOf(ctx, grant, schemaId)
          if (records > 0) requireTyped(form, getSchema(ctx, grant, schemaId).name)
          await deleteSchema(ctx, grant, schemaId)
          return `/projects/${id}/data?done=deleted`
        },
      },
    },
    show: (failed) => showSchema(ctx, request, place, { failed }),
  })
}

/**
 * Removing a field deletes its values in all records, so the form asks for confirmation first. Waits for nothing before it
 * saves: meanwhile the sender could lose access, or others change the fields.
 */
function saveSchema(
  ctx: Context,
  request: Request,
  place: Place,
  { grant, form }: Doing,
): string | Promise<Response> {
  const { id, schemaId } = place
  const schema = getSchema(ctx, grant, schemaId)
  const { fields, removed, inRows } = readFields(form, schema.fields)
  const isAsked = removed.length > 0 && isInUse(ctx, grant, schemaId)
  if (isAsked && !form.isTicked('isRemovalMeant')) {
    const failed = { intent: 'save', error: { message: '', status: 400 }, values: form.all() }
    return showSchema(ctx, request, place, { failed, removing: removed })
  }
  const name = form.text('name').trim()
  inForm(inRows, () => changeSchema(ctx, grant, schemaId, { name, fields }))
  return `${schemaHref(id, schemaId, '/schema')}?done=saved`
}
