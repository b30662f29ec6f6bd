import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { groupCommit } from '../../db/group-commit.ts'
import type { Db } from '../../db/open.ts'
import { tidying } from '../../db/tidying.ts'
import { AppError } from '../../domain/errors.ts'
import { isEmpty } from '../../domain/given.ts'
import {
  type Page,
  type Paginated,
  type PaginationQuery,
  paginated,
  parsePagination,
} from '../../domain/pagination.ts'
import { RECORD_COLUMNS } from '../../domain/schema-fields.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { requireSchema, type Schema } from '../schemas/service.ts'
import { cachedText } from './cached-text.ts'
import { countKept } from './counts.ts'
import { JsonList, JsonRoom } from './json-list.ts'
import { isLarge } from './large-reads.ts'
import { largeRows, nameOfRead, type Read, takeRows } from './reads.ts'
import { findRecord } from './service.ts'
import {
  deleteStored,
  insertChecked,
  jsonOfRow,
  jsonPartsOfRow,
  type RecordView,
  updateChecked,
  viewOfRow,
} from './store.ts'
import { type Filter, orderOf, whereOf } from './where.ts'

/** Before a kept list stands how many records it has, and a mark if there was no room for more. */
const COUNTED = /^(\d+)(!?)/

/** `offset` goes over `page`. */
export type RecordPageQuery = PaginationQuery & { offset?: string | number | undefined }

/** `truncated`: the records after these did not fit; `nextOffset` goes on there. contract 14.1. */
export type RecordPage = Paginated<RecordView> & {
  pagination: { truncated?: true; nextOffset?: number }
}

/** `filters` are the `filter[field]=value` of the query. The page ends before its records pass 8 MiB. */
export async function listRecords(...asked: Parameters<typeof listRecordsJson>): Promise<RecordPage> {
  let text = ''
  for await (const part of await listRecordsJson(...asked)) text += part
  return JSON.parse(text)
}

/** The same as JSON, of large records in parts. Whoever loses the right meanwhile gets no more of them. */
export async function listRecordsJson(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  query: RecordPageQuery,
  filters: readonly Filter[],
): Promise<[string] | AsyncGenerator<string>> {
  const schema = requireSchema(ctx.db.orm, grant, schemaId)
  const page = pageFrom(
    query.offset,
    parsePagination(query, {
      sortable: [...RECORD_COLUMNS, ...schema.fields.map(({ name }) => name)],
      defaultSort: 'createdAt',
      defaultOrder: 'desc',
    }),
  )
  const where = whereOf(schema, filters, 'and')
  const read = { schemaId, where, order: orderOf(schema.fields, page.sort, page.order), window: page }
  const counting = countKept(ctx.db, schemaId, where)
  // A read of a large schema may have waited: meanwhile the sender may have lost the right, or the schema be gone.
  const again = () => requireSchema(ctx.db.orm, authorizeAgain(ctx, grant, 'project:read', true), schemaId)
  if (isLarge(ctx.db, schemaId)) return largePage(ctx, read, { again, page, total: await counting })
  const [text, total] = await Promise.all([recordsKept(ctx, read), counting])
  again()
  const [, length = '', cut = ''] = COUNTED.exec(text) ?? []
  return [`{"data":${text.slice(text.indexOf('['))}${pageEnd({ page, total }, Number(length), cut !== '')}`]
}

type Found = { page: Page; total: number }

async function* largePage(
  ctx: Context,
  read: Read,
  { again, ...found }: Found & { again(): unknown },
): AsyncGenerator<string> {
  const room = new JsonRoom()
  let isTruncated = false
  yield '{"data":['
  for await (const row of largeRows(ctx.db, read)) {
    again()
    const [start, fields, rest] = jsonPartsOfRow(row)
    const comma = room.length === 0 ? '' : ','
    isTruncated = !room.takeOrFirst(start, fields, rest)
    if (isTruncated) break
    yield comma + start
    yield fields
    yield rest
  }
  again()
  yield `]${pageEnd(found, room.length, isTruncated)}`
}

/** What stands behind the records. */
function pageEnd({ page, total }: Found, length: number, isTruncated: boolean): string {
  const rest = isTruncated ? { truncated: true, nextOffset: page.offset + length } : {}
  return `,"pagination":${JSON.stringify({ ...paginated([], total, page).pagination, ...rest })}}`
}

/** The page that begins at `offset`, if there is one. Throws `invalid`. */
function pageFrom<Field extends string>(offset: string | number | undefined, page: Page<Field>): Page<Field> {
  if (offset === undefined || offset === '') return page
  const from = Number(offset)
  if (!/^\d+$/.test(String(offset)) || !Number.isSafeInteger(from)) {
    const message = 'offset must be a whole number from 0'
    throw new AppError('invalid', message, { details: [{ path: 'offset', message }] })
  }
  return { ...page, offset: from, page: Math.floor(from / page.limit) + 1 }
}

/** Filtering or sorting by a field reads every record, so the result is cached until one is written. */
function recordsKept(ctx: Context, read: Read): string | Promise<string> {
  const { schemaId, where, order, window } = read
  return cachedText(ctx.db, schemaId, `page ${nameOfRead(where, order, window)}`, async () => {
    const list = new JsonList()
    let isTruncated = false
    await takeRows(ctx.db, read, (row) => {
      isTruncated = !list.addOrFirst(jsonOfRow(row))
      return !isTruncated
    })
    return `${list.length}${isTruncated ? '!' : ''}${list}`
  })
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

export async function changeRecord(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  id: string,
  input: Readonly<Record<string, unknown>>,
): Promise<RecordView> {
  if (isEmpty(input)) return getRecord(ctx, grant, schemaId, id)
  return groupCommit(ctx.db, (db) => {
    const schema = requireSchema(db.orm, grant, schemaId)
    const record = viewOfRow(updateChecked(ctx, db, schema, id, input) ?? noSuchRecord())
    auditRecord(ctx, grant, 'record.change', schema, id)
    return record
  })
}

export function removeRecord(ctx: Context, grant: Grant, schemaId: string, id: string): Promise<void> {
  const work = (db: Db) => {
    const schema = requireSchema(db.orm, grant, schemaId)
    if (!deleteStored(db, schema, id)) noSuchRecord()
    auditRecord(ctx, grant, 'record.delete', schema, id)
  }
  return tidying(ctx.db, () => groupCommit(ctx.db, work))
}

/** Who changed which record, not its fields: records hold what visitors wrote. */
function auditRecord(ctx: Context, grant: Grant, action: string, schema: Schema, id: string): void {
  const target = { kind: 'record', id, name: null }
  audit(ctx, ctx.db.orm, grant.actor, {
    action,
    target,
    projectId: schema.projectId,
    after: { schemaId: schema.id, schema: schema.name },
  })
}

function noSuchRecord(): never {
  throw new AppError('not_found', 'There is no such record')
}
