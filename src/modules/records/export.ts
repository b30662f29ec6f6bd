import type { Context } from '../../context.ts'
import type { Grant } from '../auth/authorize.ts'
import { requireSchema, type Schema } from '../schemas/service.ts'
import { listRecordsBefore, type RecordRow } from './queries.ts'
import { jsonOfRow, viewOfRow } from './store.ts'
import { type Filter, whereOf } from './where.ts'

type ExportFormat = 'csv' | 'json'

const ROWS_AT_ONCE = 500
/** Above every id. */
const NEWEST = '~'

/** All records, the newest first, streamed: memory stays flat whatever there is. contract §9.4. */
export function exportRecords(
  ctx: Context,
  grant: Grant,
  schemaId: string,
  format: ExportFormat,
  filters: readonly Filter[],
): Response {
  const schema = requireSchema(ctx.db.orm, grant, schemaId)
  const where = whereOf(schema.fields, filters, 'and')
  const batches = pagesOf((before) => listRecordsBefore(ctx.db, schemaId, where, before, ROWS_AT_ONCE))
  const texts = format === 'csv' ? csvOf(schema, batches) : jsonOf(batches)
  return new Response(streamOf(texts), {
    headers: {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/json',
      'content-disposition': `attachment; filename="${schema.name.replace(/[^A-Za-z0-9_.-]/g, '-')}.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

function* pagesOf(read: (before: string) => RecordRow[]): Generator<RecordRow[]> {
  for (let before: string | undefined = NEWEST; before !== undefined; ) {
    const rows: RecordRow[] = read(before)
    if (rows.length > 0) yield rows
    before = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id
  }
}

function* jsonOf(batches: Iterable<RecordRow[]>): Generator<string> {
  let separator = '['
  for (const rows of batches) {
    yield `${separator}${rows.map(jsonOfRow).join(',\n')}`
    separator = ',\n'
  }
  yield separator === '[' ? '[]\n' : ']\n'
}

function* csvOf({ fields }: Schema, batches: Iterable<RecordRow[]>): Generator<string> {
  const columns = ['id', ...fields.map(({ name }) => name), 'createdAt', 'updatedAt']
  yield `${columns.map(csvCell).join(',')}\r\n`
  for (const rows of batches)
    yield rows
      .map((row) => {
        const view: Record<string, unknown> = viewOfRow(row)
        return `${columns.map((column) => csvCell(view[column])).join(',')}\r\n`
      })
      .join('')
}

/** How a spreadsheet's formula begins: in East Asia with a wide sign too, and some skip a line end or a tab in front. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]/

/**
 * A cell, quoted where it must be (RFC 4180). A text that a spreadsheet would take for a formula gets an apostrophe in
 * front; a number, which is none even with its minus, does not.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function streamOf(texts: Generator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel() {
      texts.return(undefined)
    },
  })
}
