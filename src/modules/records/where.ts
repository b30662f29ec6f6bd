import { AppError } from '../../domain/errors.ts'
import { convertFieldText, type FieldType } from '../../domain/field-types.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'

export const FILTER_OPS = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'like', 'in'] as const
export type FilterOp = (typeof FILTER_OPS)[number]
export type Filter = { field: string; op: FilterOp; value: unknown }
export type FilterLogic = 'and' | 'or'

/** A piece of SQL with the values to bind. No text of a visitor or an author is ever part of the SQL. */
export type Sql = { sql: string; values: (string | number | null)[] }

const MAX_FILTERS = 50
const MAX_LIKE = 500

/** Throws 400 for an unknown field and for a value that is not of the field's type. No filters: every record. */
export function whereOf(fields: readonly SchemaField[], filters: readonly Filter[], logic: FilterLogic): Sql {
  if (filters.length > MAX_FILTERS)
    throw new AppError('invalid', `There may be at most ${MAX_FILTERS} filters`)
  const parts = filters.map((filter) => conditionOf(fields, filter))
  if (parts.length === 0) return { sql: 'TRUE', values: [] }
  return {
    sql: `(${parts.map(({ sql }) => sql).join(logic === 'or' ? ' OR ' : ' AND ')})`,
    values: parts.flatMap(({ values }) => values),
  }
}

/** The value of a field of the record at hand, as SQLite compares it; createdAt is the order of the ids. */
export function columnOf(fields: readonly SchemaField[], field: string): Sql & { type: FieldType } {
  const column = COLUMNS.get(field)
  if (column !== undefined) return { ...column, values: [] }
  const known = fields.find(({ name }) => name === field)
  if (known === undefined)
    throw new AppError('invalid', `The schema has no field ${field.slice(0, 100)}`, {
      details: [{ path: field.slice(0, 100), message: 'The schema has no such field' }],
    })
  return { sql: 'data ->> ?', values: [`$."${known.name}"`], type: known.type }
}

/** The order of a field, for `ORDER BY`. */
export function orderOf(fields: readonly SchemaField[], field: string, direction: 'asc' | 'desc'): Sql {
  // Ids are made in the order of time, and are indexed.
  const { sql, values } = field === 'createdAt' ? { sql: 'id', values: [] } : columnOf(fields, field)
  return { sql: `${sql} ${direction === 'asc' ? 'ASC' : 'DESC'}`, values }
}

const COLUMNS: ReadonlyMap<string, { sql: string; type: FieldType }> = new Map([
  ['id', { sql: 'id', type: 'string' }],
  ['createdAt', { sql: 'created_at', type: 'datetime' }],
  ['updatedAt', { sql: 'updated_at', type: 'datetime' }],
])

const OPERATORS = {
  eq: 'IS',
  ne: 'IS NOT',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  like: 'LIKE',
} as const satisfies Record<Exclude<FilterOp, 'in'>, string>

function conditionOf(fields: readonly SchemaField[], { field, op, value }: Filter): Sql {
  const column = columnOf(fields, field)
  const isTime = column.sql !== 'id' && column.values.length === 0
  const bound = (one: unknown) => boundValue(field, column.type, isTime, one)
  if (op === 'in') {
    if (!Array.isArray(value)) throw wrong(field, 'in needs a list')
    return {
      sql: `${column.sql} IN (SELECT value FROM json_each(?))`,
      values: [...column.values, JSON.stringify(value.map(bound))],
    }
  }
  if (op === 'like') {
    if (typeof value !== 'string' || value.length > MAX_LIKE)
      throw wrong(field, `like needs a text of at most ${MAX_LIKE} characters`)
    return { sql: `${column.sql} LIKE ?`, values: [...column.values, value] }
  }
  return { sql: `${column.sql} ${OPERATORS[op]} ?`, values: [...column.values, bound(value)] }
}

/** Text is read as the field's type: a query has nothing else. JSON's true and false are 1 and 0 to SQLite. */
function boundValue(field: string, type: FieldType, isTime: boolean, value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  const isText = type === 'string' || type === 'text'
  const isTextual = isText || type === 'json'
  // A rule that writes '12' or 'true' says a number or a truth, and the field has the text.
  if (isText && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  const checked = typeof value === 'string' && !isTextual ? convertFilterText(type, value) : value
  if (checked === undefined) throw wrong(field, `is compared with something that is no ${type}`)
  if (typeof checked === 'boolean') return Number(checked)
  if (typeof checked === 'string') return isTime ? Date.parse(checked) : checked
  if (typeof checked === 'number' && Number.isFinite(checked)) return checked
  throw wrong(field, 'can be compared with a text, a number, true, false or null')
}

/** A part of an email or a URL is a good thing to compare with; a part of a number is not. */
function convertFilterText(type: FieldType, text: string): unknown {
  if (type === 'email' || type === 'url') return text
  const checked = convertFieldText(type, text)
  if (checked.ok) return checked.value
  const isDay = type === 'datetime' && convertFieldText('date', text).ok
  return isDay ? `${text.trim()}T00:00:00.000Z` : undefined
}

const wrong = (field: string, message: string): AppError =>
  new AppError('invalid', `${field} ${message}`, { details: [{ path: field, message }] })
