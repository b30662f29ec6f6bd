import type { Context } from '../../context.ts'
import { groupCommit } from '../../db/group-commit.ts'
import { AppError } from '../../domain/errors.ts'
import type { FieldType } from '../../domain/field-types.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { findSchemaOf, type Schema } from '../schemas/service.ts'
import { cachedText } from './cached-text.ts'
import { aggregateRows, findRecordRow, listMatchingIds, listRecordRows } from './queries.ts'
import {
  deleteStored,
  insertChecked,
  insertRow,
  jsonOfRow,
  type RecordView,
  updateChecked,
  viewOfRow,
} from './store.ts'
import { columnOf, type Filter, type FilterLogic, orderOf, type Sql, whereOf } from './where.ts'

export type { RecordView } from './store.ts'
export { FILTER_OPS, type Filter, type FilterLogic, type FilterOp } from './where.ts'

/** Records as pipelines use them; as people and API keys do: `manage.ts`. */

/** Which records: the one with the id, by filters, of which all (`and`, the default) or one (`or`) must hold, or by both. */
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
}

export const OPERATIONS = ['count', 'sum', 'avg', 'min', 'max'] as const
type Operation = (typeof OPERATIONS)[number]
type Aggregation = {
  operation: Operation
  field: string | null
  groupBy: string | null
  filters: readonly Filter[]
  logic: FilterLogic
}

/** Stores a record; durable when the promise resolves. 400 and 409 as in `store.ts`. */
export function createRecord(
  ctx: Context,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): Promise<RecordView> {
  return committed(ctx, schema, (db, now) => insertChecked(ctx, db, now, input))
}

/** The same, and the record as its JSON. */
export function createRecordJson(
  ctx: Context,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  return committed(ctx, schema, (db, now) => jsonOfRow(insertRow(ctx, db, now, input).row))
}

/** The records as they are after the change; an unknown `recordId` changes none. `add`: what numbers grow by. */
export function updateRecords(
  ctx: Context,
  schema: Schema,
  selection: Selection,
  input: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, number>> = {},
): Promise<RecordView[]> {
  return committed(ctx, schema, (db, now) =>
    idsOf(db, now, selection).flatMap((id) => updateChecked(ctx, db, now, id, input, add) ?? []),
  )
}

/** Ids of the records that were deleted. */
export function deleteRecords(ctx: Context, schema: Schema, selection: Selection): Promise<string[]> {
  return committed(ctx, schema, (db, now) =>
    idsOf(db, now, selection).filter((id) => deleteStored(db, now, id)),
  )
}

/**
 * A change of the schema may have been committed since the step looked at it: the record must have the fields of the moment
 * of its own commit. Looked up here first, as what is looked up inside of a transaction is not kept for the next one.
 */
function committed<T>(
  ctx: Context,
  { id, projectId }: Schema,
  write: (db: Context['db'], now: Schema) => T extends Promise<unknown> ? never : T,
): Promise<T> {
  findSchemaOf(ctx, projectId, id)
  return groupCommit(ctx.db, (db) => {
    const now = findSchemaOf(ctx, projectId, id)
    if (now === undefined) throw new AppError('internal', 'The schema of this step was deleted just now')
    return write(db, now)
  })
}

function idsOf(db: Context['db'], schema: Schema, selection: Selection): string[] {
  const { filters = [], logic = 'and' } = selection
  if (!('recordId' in selection))
    return listMatchingIds(db, schema.id, whereOf(schema.fields, filters, logic))
  if (filters.length === 0) return [selection.recordId]
  const { sql, values } = whereOf(schema.fields, filters, logic)
  return listMatchingIds(db, schema.id, { sql: `id = ? AND ${sql}`, values: [selection.recordId, ...values] })
}

/**
 * JSON of the array of records, not parsed on the way. While nothing is written the same question has the same answer:
 * it is kept until the next transaction of whatever kind.
 */
export function queryRecordsJson(ctx: Context, schema: Schema, query: RecordQuery): string {
  const where = whereOf(schema.fields, query.filters, query.logic)
  const order =
    query.orderBy === null ? null : orderOf(schema.fields, query.orderBy.field, query.orderBy.direction)
  const { limit, offset } = query
  const values = JSON.stringify([schema.id, limit, offset, ...where.values, ...(order?.values ?? [])])
  return cachedText(ctx.db, `${where.sql} ${order?.sql} ${values}`, () => {
    const rows = listRecordRows(ctx.db, schema.id, where, order, query)
    return `[${rows.map(jsonOfRow).join(',')}]`
  })
}

export function findRecord(
  ctx: Context,
  schema: Schema,
  selection: Selection & { recordId: string },
): RecordView | undefined {
  const [id] = idsOf(ctx.db, schema, selection)
  const row = id === undefined ? null : findRecordRow(ctx.db, schema.id, id)
  return row === null ? undefined : viewOfRow(row)
}

/** A number (null for the sum of texts and the like of nothing), or a row for each group. */
export function aggregateRecords(
  ctx: Context,
  schema: Schema,
  { operation, field, groupBy, filters, logic }: Aggregation,
): unknown {
  const group = groupBy === null ? null : columnOf(schema.fields, groupBy)
  const measure = measureOf(schema, operation, field)
  const where = whereOf(schema.fields, filters, logic)
  const rows = aggregateRows(ctx.db, schema.id, where, measure, group).map(({ grouped, value }) => ({
    grouped: valueOfType(group?.type, grouped),
    value: valueOfType(measure.type, value),
  }))
  if (groupBy === null) return rows[0]?.value ?? null
  return rows.map(({ grouped, value }) => ({ [groupBy]: grouped, value }))
}

/** As a record has it: SQLite keeps truth as 0 and 1, and a record's own times in milliseconds. */
function valueOfType(
  type: FieldType | undefined,
  value: number | string | null,
): number | string | boolean | null {
  if (type === 'boolean' && value !== null) return value === 1
  return type === 'datetime' && typeof value === 'number' ? isoTime(value) : value
}

function measureOf(schema: Schema, operation: Operation, field: string | null): Sql & { type: FieldType } {
  if (operation === 'count' && field === null) return { sql: 'count(*)', values: [], type: 'integer' }
  if (field === null) throw new AppError('invalid', `${operation} needs a field`)
  const { sql, values, type } = columnOf(schema.fields, field)
  const needsNumbers = operation === 'sum' || operation === 'avg'
  if (needsNumbers && type !== 'number' && type !== 'integer')
    throw new AppError('invalid', `${operation} needs a field of numbers, and ${field} is ${type}`)
  const isOfField = operation === 'min' || operation === 'max'
  return {
    sql: `${operation === 'sum' ? 'total' : operation}(${sql})`,
    values,
    type: isOfField ? type : 'number',
  }
}
