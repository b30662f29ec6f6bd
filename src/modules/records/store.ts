import type { Context } from '../../context.ts'
import type { Db } from '../../db/open.ts'
import { isUniqueViolation } from '../../db/open.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { checkRecordData, type SchemaField } from '../../domain/schema-fields.ts'
import type { Schema } from '../schemas/service.ts'
import {
  deleteRecordRow,
  deleteUnique,
  findRecordRow,
  insertRecord,
  insertUnique,
  type RecordRow,
  updateRecordRow,
} from './queries.ts'

/** `{ id, ...fields, createdAt, updatedAt }`. contract §9.4. */
export type RecordView = Record<string, unknown> & { id: string; createdAt: string; updatedAt: string }

type Writer = Pick<Context, 'now' | 'newId' | 'config'>

/**
 * The only place that writes records, for pipelines and the API: types, required, default and unique are enforced here.
 * Call these synchronous functions in a transaction. 400 with details of all fields, 409 for a unique clash, 413 if it
 * is too large.
 */
export function insertChecked(
  ctx: Writer,
  db: Db,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): RecordView {
  const { row, data } = insertRow(ctx, db, schema, input)
  return viewOf(row, data)
}

/** The stored row, and its JSON. */
export function insertRow(
  ctx: Writer,
  db: Db,
  schema: Schema,
  input: Readonly<Record<string, unknown>>,
): { row: RecordRow; data: Record<string, unknown> } {
  const { data, errors } = checkRecordData(schema.fields, input)
  refuse(errors)
  const now = ctx.now()
  const row: RecordRow = { id: ctx.newId(), data: storedText(ctx, data), createdAt: now, updatedAt: now }
  insertRecord(db, schema.id, row)
  for (const field of schema.fields)
    if (field.unique) claim(db, schema.id, field, data[field.name] ?? null, row.id)
  return { row, data }
}

/** Undefined when there is no such record. `add`: amounts to add to number fields, in the same transaction. */
export function updateChecked(
  ctx: Pick<Writer, 'now' | 'config'>,
  db: Db,
  schema: Schema,
  id: string,
  input: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, number>> = {},
): RecordRow | undefined {
  const row = findRecordRow(db, schema.id, id)
  if (row === null) return undefined
  const stored: Record<string, unknown> = JSON.parse(row.data)
  const { data, errors } = checkRecordData(
    schema.fields,
    { ...input, ...sumsOf(schema, stored, add) },
    stored,
  )
  refuse(errors)
  for (const field of schema.fields) {
    const value = data[field.name] ?? null
    if (!field.unique || value === (stored[field.name] ?? null)) continue
    deleteUnique(db, schema.id, field.name, id)
    claim(db, schema.id, field, value, id)
  }
  const changed = { ...row, data: storedText(ctx, data), updatedAt: ctx.now() }
  updateRecordRow(db, schema.id, changed)
  return changed
}

/** Throws 413 for fields that take more than a record may. contract 14.1. */
function storedText({ config }: Pick<Writer, 'config'>, data: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(data)
  const sizeBytes = Buffer.byteLength(text)
  if (sizeBytes <= config.maxRecordBytes) return text
  const message = `The record has ${sizeBytes} bytes, and a record may have at most ${config.maxRecordBytes}`
  throw new AppError('too_large', message, { code: 'RECORD_TOO_LARGE' })
}

/** A field without a value counts as 0. */
function sumsOf(
  { fields }: Schema,
  stored: Readonly<Record<string, unknown>>,
  add: Readonly<Record<string, number>>,
): Record<string, number> {
  const sums = Object.entries(add).map(([name, by]): [string, number] => {
    const type = fields.find((field) => field.name === name)?.type
    if (type !== 'number' && type !== 'integer') {
      const message = `${name.slice(0, 100)} is not a number field of the schema`
      throw new AppError('invalid', message, { details: [{ path: name.slice(0, 100), message }] })
    }
    return [name, Number(stored[name] ?? 0) + by]
  })
  return Object.fromEntries(sums)
}

export const deleteStored = (db: Db, schema: Schema, id: string): boolean =>
  deleteRecordRow(db, schema.id, id)

export const viewOfRow = (row: RecordRow): RecordView => viewOf(row, JSON.parse(row.data))

/** The same as JSON, without parsing the stored text. */
export const jsonOfRow = (row: RecordRow): string => jsonPartsOfRow(row).join('')

/** The same in parts, so that a large text need not be copied to become a part of another. */
export function jsonPartsOfRow({ id, data, createdAt, updatedAt }: RecordRow): [string, string, string] {
  const created = isoTime(createdAt)
  const updated = updatedAt === createdAt ? created : isoTime(updatedAt)
  const isEmpty = data.length <= 2
  const times = `"createdAt":"${created}","updatedAt":"${updated}"}`
  return isEmpty ? [`{"id":"${id}",`, '', times] : [`{"id":"${id}",`, data.slice(1, -1), `,${times}`]
}

function viewOf({ id, createdAt, updatedAt }: RecordRow, data: Record<string, unknown>): RecordView {
  return { id, ...data, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) }
}

function claim(db: Db, schemaId: string, { name }: SchemaField, value: unknown, recordId: string): void {
  if (value === null) return
  try {
    insertUnique(db, schemaId, name, JSON.stringify(value), recordId)
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    throw new AppError('conflict', `There is already a record with this ${name}`, {
      details: [{ path: name, message: 'must be unique' }],
    })
  }
}

function refuse(errors: ErrorDetail[]): void {
  if (errors.length > 0)
    throw new AppError('invalid', errors.map(({ message }) => message).join('; '), { details: errors })
}
