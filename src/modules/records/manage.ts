import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { groupCommit } from '../../db/group-commit.ts'
import { AppError } from '../../domain/errors.ts'
import { type Paginated, type PaginationQuery, paginated, parsePagination } from '../../domain/pagination.ts'
import { RECORD_COLUMNS } from '../../domain/schema-fields.ts'
import type { Grant } from '../auth/authorize.ts'
import { requireSchema, type Schema } from '../schemas/service.ts'
import { cachedText } from './cached-text.ts'
import { countKept } from './counts.ts'
import { listRecordRows, type RecordRow, type Window } from './queries.ts'
import { findRecord } from './service.ts'
import { deleteStored, insertChecked, type RecordView, updateChecked, viewOfRow } from './store.ts'
import { type Filter, orderOf, type Sql, whereOf } from './where.ts'

/** `filters` are the `filter[field]=value` of the query. */
export function listRecords(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  query: PaginationQuery,
  filters: readonly Filter[],
): Paginated<RecordView> {
  const schema = requireSchema(ctx.db.orm, grant, schemaId)
  const page = parsePagination(query, {
    sortable: [...RECORD_COLUMNS, ...schema.fields.map(({ name }) => name)],
    defaultSort: 'createdAt',
    defaultOrder: 'desc',
  })
  const where = whereOf(schema.fields, filters, 'and')
  const order = orderOf(schema.fields, page.sort, page.order)
  return paginated(
    rowsKept(ctx, schemaId, where, order, page).map(viewOfRow),
    countKept(ctx.db, schemaId, where),
    page,
  )
}

/** To filter or sort by a field reads every record, so what was found is kept until something is written. */
function rowsKept(
  ctx: Context,
  schemaId: string,
  where: Sql,
  order: Sql,
  { limit, offset }: Window,
): RecordRow[] {
  const values = JSON.stringify([schemaId, limit, offset, ...where.values, ...order.values])
  const text = cachedText(ctx.db, `rows ${where.sql} ${order.sql} ${values}`, () =>
    JSON.stringify(listRecordRows(ctx.db, schemaId, where, order, { limit, offset })),
  )
  return JSON.parse(text)
}

export function getRecord(ctx: Context, grant: Grant, schemaId: string, id: string): RecordView {
  return findRecord(ctx, requireSchema(ctx.db.orm, grant, schemaId), { recordId: id }) ?? noSuchRecord()
}

export function addRecord(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  input: Readonly<Record<string, unknown>>,
): Promise<RecordView> {
  return groupCommit(ctx.db, (db) => {
    const schema = requireSchema(db.orm, grant, schemaId)
    const record = insertChecked(ctx, db, schema, input)
    auditRecord(ctx, grant, 'record.create', schema, record.id)
    return record
  })
}

export function changeRecord(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  id: string,
  input: Readonly<Record<string, unknown>>,
): Promise<RecordView> {
  return groupCommit(ctx.db, (db) => {
    const schema = requireSchema(db.orm, grant, schemaId)
    const record = updateChecked(ctx, db, schema, id, input) ?? noSuchRecord()
    auditRecord(ctx, grant, 'record.change', schema, id)
    return record
  })
}

export function removeRecord(ctx: Context, grant: Grant, schemaId: string, id: string): Promise<void> {
  return groupCommit(ctx.db, (db) => {
    const schema = requireSchema(db.orm, grant, schemaId)
    if (!deleteStored(db, schema, id)) noSuchRecord()
    auditRecord(ctx, grant, 'record.delete', schema, id)
  })
}

/** Who and which, not what: records hold what visitors wrote. */
function auditRecord(ctx: Context, grant: Grant, action: string, schema: Schema, id: string): void {
  const target = { kind: 'record', id }
  audit(ctx, ctx.db.orm, grant.actor, {
    action,
    target,
    projectId: schema.projectId,
    after: { schemaId: schema.id },
  })
}

function noSuchRecord(): never {
  throw new AppError('not_found', 'There is no such record')
}
