import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { csvCell } from '../../domain/csv-cell.ts'
import { streamOfTexts } from '../../http/stream-of.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { requireSchema, type Schema } from '../schemas/service.ts'
import { inTurn, isLarge, noteSize } from './large-reads.ts'
import { listRecordRows, type RecordRow, recordRows } from './queries.ts'
import { readAll } from './reads.ts'
import { windowsOf } from './scan.ts'
import { jsonOfRow, viewOfRow } from './store.ts'
import { type Filter, NEWEST_FIRST, type Where, whereOf } from './where.ts'

/** `hasBom`: CSV begins with the mark by which Excel knows UTF-8. JSON has none. RFC 8259 §8.1. */
type ExportFormat = { format: 'csv' | 'json'; hasBom?: boolean }

const ROWS_AT_ONCE = 500

/**
 * Streams all records, newest first: memory use does not depend on their number. Others get their turn in between, see
 * `windowsOf`. contract §9.4.
 */
export function exportRecords(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  { format, hasBom = false }: ExportFormat,
  filters: readonly Filter[],
): Response {
  const schema = requireSchema(ctx.db.orm, grant, schemaId)
  const batches = batchesOf(ctx, grant, schemaId, whereOf(schema, filters, 'and'))
  const texts = format === 'csv' ? csvOf(schema, batches, hasBom) : jsonOf(batches)
  return new Response(streamOfTexts(texts), {
    headers: {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json',
      'content-disposition': `attachment; filename="${schema.name.replace(/[^A-Za-z0-9_.-]/g, '-')}.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

/** What a deleted schema had is not whole, and the role may be taken away: the connection then breaks. */
async function* batchesOf(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  where: Where,
): AsyncGenerator<RecordRow[]> {
  const { db } = ctx
  for await (const part of windowsOf(db, schemaId, where, 'DESC', ROWS_AT_ONCE)) {
    const rows = await rowsOf(db, schemaId, { ...where, ...part })
    authorizeAgain(ctx, grant, 'project:read', true)
    if (rows.length > 0) yield rows
  }
  requireSchema(db.orm, grant, schemaId)
}

/** A `like` is read apart: with a long pattern a single record may take a second. */
async function rowsOf(db: Db, schemaId: string, where: Where): Promise<RecordRow[]> {
  const all = { limit: ROWS_AT_ONCE, offset: 0 }
  if (where.effort > 1)
    return readAll<RecordRow>(db, schemaId, where, recordRows(schemaId, where, NEWEST_FIRST, all))
  const read = () => listRecordRows(db, schemaId, where, NEWEST_FIRST, all)
  const rows = await (isLarge(db, schemaId) ? inTurn(schemaId, read) : read())
  noteSize(
    db,
    schemaId,
    rows.reduce((sum, { data }) => sum + data.length, 0),
  )
  return rows
}

async function* jsonOf(batches: AsyncIterable<RecordRow[]>): AsyncGenerator<string> {
  let separator = '['
  for await (const rows of batches) {
    yield `${separator}${rows.map(jsonOfRow).join(',\n')}`
    separator = ',\n'
  }
  yield separator === '[' ? '[]\n' : ']\n'
}

async function* csvOf(
  { fields }: Schema,
  batches: AsyncIterable<RecordRow[]>,
  hasBom: boolean,
): AsyncGenerator<string> {
  const columns = ['id', ...fields.map(({ name }) => name), 'createdAt', 'updatedAt']
  yield `${hasBom ? '\ufeff' : ''}${columns.map(csvCell).join(',')}\r\n`
  for await (const rows of batches)
    yield rows
      .map((row) => {
        const view: Record<string, unknown> = viewOfRow(row)
        return `${columns.map((column) => csvCell(view[column])).join(',')}\r\n`
      })
      .join('')
}
