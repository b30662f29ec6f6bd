import type { ErrorDetail } from './errors.ts'
import { checkFieldValue, FIELD_TYPES, type FieldType } from './field-types.ts'
import { isRecord } from './is-record.ts'
import { PROTOTYPE_KEYS } from './prototype-keys.ts'

/** A field of a schema. `default` replaces a missing value. contract §9.4. */
export type SchemaField = {
  name: string
  type: FieldType
  required: boolean
  unique: boolean
  default?: unknown
}

/** A step refers to a schema by its id, or by its name after this prefix. contract §9.3. */
export const SCHEMA_BY_NAME = '$schema:'
export const SCHEMA_NAME = /^[A-Za-z0-9_][A-Za-z0-9_ .-]{0,99}$/
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const MAX_FIELDS = 200
/** Columns that every record has anyway. */
export const RECORD_COLUMNS = ['id', 'createdAt', 'updatedAt'] as const
const RESERVED: ReadonlySet<string> = new Set([...RECORD_COLUMNS, ...PROTOTYPE_KEYS])

/** Parses the `fields` of a schema; `errors` lists every problem by path (`fields[2].type`). */
export function parseSchemaFields(value: unknown): { fields: SchemaField[]; errors: ErrorDetail[] } {
  if (!Array.isArray(value) || value.length > MAX_FIELDS)
    return {
      fields: [],
      errors: [{ path: 'fields', message: `must be a list of at most ${MAX_FIELDS} fields` }],
    }
  const errors: ErrorDetail[] = []
  const fields: SchemaField[] = []
  const names = new Set<string>()
  for (const [i, one] of value.entries()) {
    const problem = (path: string, message: string) =>
      errors.push({ path: `fields[${i}]${path === '' ? '' : `.${path}`}`, message })
    const field = parseField(one, problem)
    if (field === undefined) continue
    if (names.has(field.name)) problem('name', `there are two fields named ${field.name}`)
    names.add(field.name)
    fields.push(field)
  }
  return { fields, errors }
}

function parseField(
  value: unknown,
  problem: (path: string, message: string) => void,
): SchemaField | undefined {
  if (!isRecord(value)) {
    problem('', 'must be an object with name and type')
    return undefined
  }
  const { name, required = false, unique = false } = value
  const type = FIELD_TYPES.find((one) => one === value['type'])
  const isNamed = typeof name === 'string' && FIELD_NAME.test(name) && !RESERVED.has(name)
  if (!isNamed)
    problem(
      'name',
      `must be 1 to 64 letters, digits, _ and -, not begin with a digit, and not be ${[...RECORD_COLUMNS].join(', ')}`,
    )
  if (type === undefined) problem('type', `must be one of ${FIELD_TYPES.join(', ')}`)
  if (typeof required !== 'boolean') problem('required', 'must be true or false')
  if (typeof unique !== 'boolean') problem('unique', 'must be true or false')
  if (type === 'json' && unique === true) problem('unique', 'a json field cannot be unique')
  if (!isNamed || type === undefined || typeof required !== 'boolean' || typeof unique !== 'boolean')
    return undefined
  return withDefault({ name, type, required, unique }, value['default'], problem)
}

function withDefault(
  field: SchemaField,
  given: unknown,
  problem: (path: string, message: string) => void,
): SchemaField {
  if (given === undefined || given === null) return field
  const checked = checkFieldValue(field.type, given)
  if (!checked.ok) problem('default', checked.message)
  return checked.ok ? { ...field, default: checked.value } : field
}

/**
 * Returns a record's data with every field of the schema and no others; missing fields get their default, else null.
 * With `stored`, the input updates that record. `errors` lists every invalid field.
 */
export function checkRecordData(
  fields: readonly SchemaField[],
  input: Readonly<Record<string, unknown>>,
  stored?: Readonly<Record<string, unknown>>,
): { data: Record<string, unknown>; errors: ErrorDetail[] } {
  const data: [string, unknown][] = []
  const errors: ErrorDetail[] = []
  for (const { name, type, required, default: fallback } of fields) {
    const isGiven = Object.hasOwn(input, name) && input[name] !== undefined
    const given = isGiven ? input[name] : null
    if (!isGiven && stored !== undefined) data.push([name, stored[name] ?? null])
    else if (given === null && stored === undefined && fallback !== undefined) data.push([name, fallback])
    else if (given === null) {
      if (required) errors.push({ path: name, message: `${name} is required` })
      data.push([name, null])
    } else {
      const checked = checkFieldValue(type, given)
      if (checked.ok) data.push([name, checked.value])
      else errors.push({ path: name, message: `${name} ${checked.message}` })
    }
  }
  return { data: Object.fromEntries(data), errors }
}
