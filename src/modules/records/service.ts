import type { Context } from '../../context.ts'
import { convertedFor } from '../../domain/convert-values.ts'
import { AppError } from '../../domain/errors.ts'
import type { FieldType } from '../../domain/field-types.ts'
import { isoTime } from '../../domain/iso-time.ts'
import type { Operation } from '../../domain/record-words.ts'
import { findSchemaOf, type Schema } from '../schemas/service.ts'
import { type Measure, nameOfAggregate, readAggregate } from './aggregate.ts'
import { cachedText } from './cached-text.ts'
import { committed, deletedMeanwhile } from './committed.ts'
import { JsonList, MAX_LIST_BYTES } from './json-list.ts'
import { type AggregateRow, findRecordRow, listMatchingIds, MAX_GROUPS, type RecordRow } from './queries.ts'
import { among, isReadAtOnce, nameOfRead, readIds, takeRows } from './reads.ts'
import {
  deleteStored,
  insertChecked,
  insertRow,
  jsonOfRow,
  type RecordView,
  updateChecked,
  viewOfRow,
} from './store.ts'
import { columnOf, type Filter, type FilterLogic, NEWEST_FIRST, orderOf, whereOf } from './where.ts'

export type { RecordView } from './store.ts'
export type { Filter, FilterLogic } from './where.ts'

/** Records for pipelines. For people and API keys see `manage.ts`. */

/** Selects records by id, by filters, or by both. All filters must match (`and`, the default), or any (`or`). */
export type Selection = { logic?: FilterLogic } & (
  | { recordId: string; filters?: readonly Filter[] }
  | { filters: readonly Filter[] }
)

export type RecordQuery = {
  filters: readonly Filter[]
  logic: FilterLogic
  orderBy: { field: string; direction: 'asc' | 'desc' } | null
  limit: number
  offset: number
  /** The keys of the records to return; without them all. */
  select?: readonly string[] | null
}

type Aggregation = {
  operation: Operation
  field: string | null
  groupBy: string | null
  filters: readonly Filter[]
  logic: FilterLogic
}

/**
 * Stores a record, which is durable when the promise resolves. Values are converted to the types of their fields. 400, 409
 * and 413 as in `store.ts`.
 */
export function createRecord(
  ctx: Context,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): Promise<RecordView> {
  return committed(ctx, schema, (db, now) => insertChecked(ctx, db, now, convertedFor(now.fields, input)))
}

/** The same, and returns the record as JSON. */
export function createRecordJson(
  ctx: Context,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  return committed(ctx, schema, (db, now) =>
    jsonOfRow(insertRow(ctx, db, now, convertedFor(now.fields, input)).row),
  )
}

/**
 * Stores a record in a transaction that is open: that of a file which the record describes. Leaves out what the schema lacks.
 * 400, 409 and 413 as in `store.ts`.
 */
export function createRecordIn(
  ctx: Context,
  { id, projectId }: Schema,
  input: Readonly<Record<string, unknown>>,
): RecordView {
  const now = findSchemaOf(ctx, projectId, id)
  if (now === undefined) throw deletedMeanwhile()
  const names = now.fields.map(({ name }) => name).filter((name) => Object.hasOwn(input, name))
  const known = Object.fromEntries(names.map((name) => [name, input[name]]))
  return insertChecked(ctx, ctx.db, now, convertedFor(now.fields, known))
}

/** `updated` ends before it passes 8 MiB, and is then `truncated`. contract 14.1. */
type Updated = { count: number; updated: RecordView[]; truncated?: true }

/** Returns the records after the change; an unknown `recordId` changes none. `add`: amounts to add to number fields. */
export async function updateRecords(
  ctx: Context,
  schema: Schema,
  selection: Selection,
  input: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, number>> = {},
): Promise<Updated> {
  const found = await findInWindows(ctx, schema, selection)
  return committed(ctx, schema, (db, currentSchema) => {
    const values = convertedFor(currentSchema.fields, input)
    const listed = new JsonList()
    let count = 0
    let isTruncated = false
    for (const id of idsOf(db, currentSchema, selection, found)) {
      const row = updateChecked(ctx, db, currentSchema, id, values, add)
      if (row === undefined) continue
      count += 1
      isTruncated ||= !listed.addOrFirst(jsonOfRow(row))
    }
    const updated: RecordView[] = JSON.parse(String(listed))
    return isTruncated ? { count, updated, truncated: true } : { count, updated }
  })
}

/** Returns the ids of the deleted records. */
export async function deleteRecords(ctx: Context, schema: Schema, selection: Selection): Promise<string[]> {
  const found = await findInWindows(ctx, schema, selection)
  return committed(ctx, schema, (db, currentSchema) =>
    idsOf(db, currentSchema, selection, found).filter((id) => deleteStored(db, currentSchema, id)),
  )
}

/**
 * Ids of records that the filters select now, if that cannot be found out at once: the transaction then checks only
 * these again, and does not block others while it reads a large schema.
 */
async function findInWindows(
  { db }: Context,
  schema: Schema,
  selection: Selection,
): Promise<string[] | undefined> {
  if ('recordId' in selection) return undefined
  const where = whereOf(schema, selection.filters, selection.logic ?? 'and')
  return isReadAtOnce(db, schema.id, where) ? undefined : readIds(db, schema.id, where)
}

const CHECKED_AT_ONCE = 10_000

/** `found`: the ids that are considered, if not all. */
function idsOf(db: Context['db'], schema: Schema, selection: Selection, found?: string[]): string[] {
  const { filters = [], logic = 'and' } = selection
  if ('recordId' in selection && filters.length === 0) return [selection.recordId]
  const where = whereOf(schema, filters, logic)
  if ('recordId' in selection) {
    const { sql, values } = where
    return listMatchingIds(db, schema.id, {
      sql: `id = ? AND ${sql}`,
      values: [selection.recordId, ...values],
    })
  }
  if (found === undefined) return listMatchingIds(db, schema.id, where)
  const ids: string[] = []
  for (let i = 0; i < found.length; i += CHECKED_AT_ONCE) {
    const some = among(where, found.slice(i, i + CHECKED_AT_ONCE))
    for (const id of listMatchingIds(db, schema.id, some)) ids.push(id)
  }
  return ids
}

/**
 * Returns JSON of the array of records. The result is cached until a record of the schema is written. It is a promise if a
 * large schema has to be read. Throws `QUERY_TOO_LARGE` for more than 8 MiB.
 */
export function queryRecordsJson(ctx: Context, schema: Schema, query: RecordQuery): string | Promise<string> {
  const where = whereOf(schema, query.filters, query.logic)
  const order =
    query.orderBy === null
      ? NEWEST_FIRST
      : orderOf(schema.fields, query.orderBy.field, query.orderBy.direction)
  const { select = null } = query
  const name = `json ${JSON.stringify(select)} ${nameOfRead(where, order, query)}`
  const json = cachedText(ctx.db, schema.id, name, () => {
    const list = new JsonList()
    const reading = takeRows(ctx.db, { schemaId: schema.id, where, order, window: query }, (row) => {
      if (!list.add(selectedJson(row, select))) throw queryTooLarge()
      return true
    })
    return reading instanceof Promise ? reading.then(() => String(list)) : String(list)
  })
  return json instanceof Promise ? ifStillThere(ctx, schema, json) : json
}

/** What was read of a schema that is deleted meanwhile is not whole. */
async function ifStillThere<T>(ctx: Context, { id, projectId }: Schema, read: Promise<T>): Promise<T> {
  const found = await read
  if (findSchemaOf(ctx, projectId, id) === undefined) throw deletedMeanwhile()
  return found
}

/** A key that the record does not have is null. */
function selectedJson(row: RecordRow, select: readonly string[] | null): string {
  if (select === null) return jsonOfRow(row)
  const view = viewOfRow(row)
  return JSON.stringify(
    Object.fromEntries(select.map((name) => [name, Object.hasOwn(view, name) ? view[name] : null])),
  )
}

const queryTooLarge = () =>
  new AppError(
    'internal',
    `The query finds more than ${MAX_LIST_BYTES} bytes: ask for fewer records, or select fewer fields`,
    { code: 'QUERY_TOO_LARGE' },
  )

type OneRecord = Selection & { recordId: string }

export function findRecord(ctx: Context, schema: Schema, selection: OneRecord): RecordView | undefined {
  const row = findRow(ctx, schema, selection)
  return row === null ? undefined : viewOfRow(row)
}

/** The same as JSON. Throws `QUERY_TOO_LARGE` for more than 8 MiB. */
export function findRecordJson(
  ctx: Context,
  schema: Schema,
  selection: OneRecord,
  select: readonly string[] | null,
): string | undefined {
  const row = findRow(ctx, schema, selection)
  if (row === null) return undefined
  const json = selectedJson(row, select)
  if (Buffer.byteLength(json) > MAX_LIST_BYTES) throw queryTooLarge()
  return json
}

function findRow(ctx: Context, schema: Schema, selection: OneRecord): RecordRow | null {
  const [id] = idsOf(ctx.db, schema, selection)
  return id === undefined ? null : findRecordRow(ctx.db, schema.id, id)
}

/**
 * A number (null for the average, least or greatest of nothing), or a row for each group. Cached until a record of the schema
 * is written.
 */
export async function aggregateRecords(
  ctx: Context,
  schema: Schema,
  { operation, field, groupBy, filters, logic }: Aggregation,
): Promise<unknown> {
  const group = groupBy === null ? null : columnOf(schema.fields, groupBy)
  const measure = measureOf(schema, operation, field)
  const where = whereOf(schema, filters, logic)
  const read = () => readAggregate(ctx.db, schema.id, where, measure, group)
  const name = nameOfAggregate(where, measure, group)
  const json = cachedText(ctx.db, schema.id, name, async () => JSON.stringify(await read()))
  const text = typeof json === 'string' ? json : await ifStillThere(ctx, schema, json)
  const found: AggregateRow[] = JSON.parse(text)
  if (found.length > MAX_GROUPS)
    throw new AppError(
      'invalid',
      `There are more than ${MAX_GROUPS} groups: filter the records, or group by another field`,
    )
  const rows = found.map(({ grouped, value }) => ({
    grouped: valueOfType(group?.type, grouped),
    value: valueOfType(measure.type, value),
  }))
  if (groupBy === null) return rows[0]?.value ?? null
  return rows.map(({ grouped, value }) => ({ [groupBy]: grouped, value }))
}

/** The value as records show it: SQLite stores booleans as 0 and 1, and a record's own times in milliseconds. */
function valueOfType(
  type: FieldType | undefined,
  value: number | string | null,
): number | string | boolean | null {
  if (type === 'boolean' && value !== null) return value === 1
  return type === 'datetime' && typeof value === 'number' ? isoTime(value) : value
}

function measureOf(
  schema: Schema,
  operation: Operation,
  field: string | null,
): Measure & { type: FieldType } {
  if (operation === 'count' && field === null) return { operation, column: null, type: 'integer' }
  if (field === null) throw new AppError('invalid', `${operation} needs a field`)
  const column = columnOf(schema.fields, field)
  const { type } = column
  const needsNumbers = operation === 'sum' || operation === 'avg'
  if (needsNumbers && type !== 'number' && type !== 'integer')
    throw new AppError('invalid', `${operation} needs a number field, but ${field} is ${type}`)
  const isOfField = operation === 'min' || operation === 'max'
  return { operation, column, type: isOfField ? type : 'number' }
}
