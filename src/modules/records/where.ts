import { AppError } from '../../domain/errors.ts'
import { convertFieldText, type FieldType } from '../../domain/field-types.ts'
import type { FilterOp } from '../../domain/record-words.ts'
import type { SchemaField } from '../../domain/schema-fields.ts'

export type Filter = { field: string; op: FilterOp; value: unknown }
export type FilterLogic = 'and' | 'or'

/** A piece of SQL with the values to bind. Text from visitors or authors never becomes part of the SQL. */
export type Sql = { sql: string; values: (string | number | null)[] }

/**
 * `reach`: whether the condition holds for all records, an index finds those it holds for, or all must be read.
 * `effort`: how often a byte of a record may have to be looked at: once, but `like` may compare its whole pattern at each.
 */
export type Where = Sql & { reach: 'all' | 'index' | 'scan'; effort: number }

/** The fields of a schema, and its id. */
type Fields = { id: string; fields: readonly SchemaField[] }

const MAX_FILTERS = 50
const MAX_LIKE = 500

export const EVERY_RECORD: Where = { sql: 'TRUE', values: [], reach: 'all', effort: 1 }

/** Throws 400 for an unknown field and for a value that is not of the field's type. No filters: every record. */
export function whereOf(schema: Fields, filters: readonly Filter[], logic: FilterLogic): Where {
  if (filters.length > MAX_FILTERS)
    throw new AppError('invalid', `There may be at most ${MAX_FILTERS} filters`)
  const parts = filters.map((filter) => conditionOf(schema.fields, filter))
  if (parts.length === 0) return EVERY_RECORD
  // An alternative to other conditions does not narrow the search.
  const isNarrowed = logic === 'and' || parts.length === 1
  const narrow = isNarrowed ? parts.flatMap((part) => uniqueLookup(schema, part) ?? []) : []
  const all = [...narrow, ...parts]
  return {
    sql: `(${all.map(({ sql }) => sql).join(logic === 'or' ? ' OR ' : ' AND ')})`,
    values: all.flatMap(({ values }) => values),
    reach: isNarrowed && (narrow.length > 0 || parts.some(isOfId)) ? 'index' : 'scan',
    effort: Math.max(...parts.map(({ filter }) => effortOf(filter))),
  }
}

const effortOf = ({ op, value }: Filter): number =>
  op === 'like' && typeof value === 'string' ? 1 + value.length : 1

/** A condition, and the filter it came from. */
type Condition = Sql & { filter: Filter; type: FieldType }

const isOfId = ({ filter: { field, op } }: Condition): boolean =>
  field === 'id' && (op === 'eq' || op === 'in')

/**
 * Finds the record by the values of unique fields, which are indexed as JSON. The condition itself must still be
 * checked. Undefined if the condition might also hold for a value with a different JSON text.
 */
function uniqueLookup({ id, fields }: Fields, { filter, type, values }: Condition): Sql | undefined {
  const bound = values.at(-1)
  const isUnique = fields.some(({ name, unique }) => name === filter.field && unique)
  if (!isUnique || filter.op !== 'eq') return undefined
  const isSameAsJson =
    typeof bound === 'string' ? bound.isWellFormed() : type === 'integer' && Number.isSafeInteger(bound)
  if (!isSameAsJson) return undefined
  return {
    sql: 'id IN (SELECT record_id FROM record_uniques WHERE schema_id = ? AND field = ? AND value = ?)',
    values: [id, filter.field, JSON.stringify(bound)],
  }
}

/** The SQL value of a record's field, as SQLite compares it. The order of createdAt is the order of the ids. */
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

/** The order of records by `key`. Equal ones come newest first. */
export type Order = { key: Sql; direction: 'ASC' | 'DESC' }

export const NEWEST_FIRST: Order = { key: { sql: 'id', values: [] }, direction: 'DESC' }

export function orderOf(fields: readonly SchemaField[], field: string, direction: 'asc' | 'desc'): Order {
  // Ids are created in time order, and are indexed.
  const key = field === 'createdAt' ? NEWEST_FIRST.key : sortKeyOf(columnOf(fields, field))
  return { key, direction: direction === 'asc' ? 'ASC' : 'DESC' }
}

/** A sort holds its keys in memory, so of a text only this many characters count. */
const SORTED_CHARACTERS = 1000

function sortKeyOf(column: Sql & { type: FieldType }): Sql {
  const { sql, values, type } = column
  if (values.length === 0 || type === 'number' || type === 'integer' || type === 'boolean') return column
  const text = `substr(${sql}, 1, ${SORTED_CHARACTERS})`
  if (type !== 'json') return { sql: text, values }
  // Numbers keep their place before texts.
  return { sql: `iif(typeof(${sql}) = 'text', ${text}, ${sql})`, values: [...values, ...values, ...values] }
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

function conditionOf(fields: readonly SchemaField[], filter: Filter): Condition {
  const column = columnOf(fields, filter.field)
  return { ...sqlOf(column, filter), filter, type: column.type }
}

function sqlOf(column: Sql & { type: FieldType }, { field, op, value }: Filter): Sql {
  const isTime = column.sql !== 'id' && column.values.length === 0
  const bound = (one: unknown) => boundValue(field, column.type, isTime, one)
  if (op === 'in') {
    if (value === null || value === undefined) throw wrong(field, 'in needs a list')
    // A query with one value arrives as that value, not as a list.
    const list = Array.isArray(value) ? value : [value]
    return {
      sql: `${column.sql} IN (SELECT value FROM json_each(?))`,
      values: [...column.values, JSON.stringify(list.map(bound))],
    }
  }
  if (op === 'like') {
    if (typeof value !== 'string' || value.length > MAX_LIKE)
      throw wrong(field, `like needs a text of at most ${MAX_LIKE} characters`)
    return { sql: `${column.sql} LIKE ?`, values: [...column.values, value] }
  }
  return { sql: `${column.sql} ${OPERATORS[op]} ?`, values: [...column.values, bound(value)] }
}

/** A query holds only text, which is read as the field's type. SQLite stores JSON's true and false as 1 and 0. */
function boundValue(field: string, type: FieldType, isTime: boolean, value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  const isText = type === 'string' || type === 'text'
  const isTextual = isText || type === 'json'
  // A rule that writes '12' or 'true' means a number or a boolean, but the field is text.
  if (isText && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  const checked = typeof value === 'string' && !isTextual ? convertFilterText(type, value) : value
  if (checked === undefined) throw wrong(field, `is compared with a value that is not of type ${type}`)
  if (typeof checked === 'boolean') return Number(checked)
  if (typeof checked === 'string') return isTime ? Date.parse(checked) : checked
  if (typeof checked === 'number' && Number.isFinite(checked)) return checked
  throw wrong(field, 'can only be compared with a text, a number, true, false or null')
}

/** A part of an email or a URL is useful to compare with; a part of a number is not. */
function convertFilterText(type: FieldType, text: string): unknown {
  if (type === 'email' || type === 'url') return text
  const checked = convertFieldText(type, text)
  if (checked.ok) return checked.value
  const isDay = type === 'datetime' && convertFieldText('date', text).ok
  return isDay ? `${text.trim()}T00:00:00.000Z` : undefined
}

const wrong = (field: string, message: string): AppError =>
  new AppError('invalid', `${field} ${message}`, { details: [{ path: field, message }] })
