import { AppError, type ErrorDetail } from '../src/domain/errors.ts'
import { convertFieldText, FIELD_TYPES } from '../src/domain/field-types.ts'
import { parseSchemaFields, type SchemaField } from '../src/domain/schema-fields.ts'
import type { Form } from './form.ts'
import { marked } from './form.ts'

/** A field as the form has it; all of it text and ticks, as it was typed. */
export type FieldRow = {
  name: string
  type: string
  isRequired: boolean
  isUnique: boolean
  default: string
  /** It is of the schema already, so its name stays. */
  isStored: boolean
  isRemoved: boolean
}

/** More than a schema can have, so that a form of nonsense stays small. */
const MOST_ROWS = 250

export const EMPTY_ROW: FieldRow = {
  ...{ name: '', type: FIELD_TYPES[0], isRequired: false, isUnique: false },
  ...{ default: '', isStored: false, isRemoved: false },
}

export const rowsOfFields = (fields: readonly SchemaField[]): FieldRow[] =>
  fields.map(({ name, type, required, unique, default: fallback }) => ({
    name,
    type,
    isRequired: required,
    isUnique: unique,
    default: defaultText(fallback),
    isStored: true,
    isRemoved: false,
  }))

/** The rows of a form that was sent, empty ones among them. */
export function rowsOfForm(values: Readonly<Record<string, string>>): FieldRow[] {
  const rows: FieldRow[] = []
  for (let at = 0; at < MOST_ROWS && values[`fields[${at}].name`] !== undefined; at++) {
    const of = (key: string) => values[`fields[${at}].${key}`] ?? ''
    rows.push({
      name: of('name').trim(),
      type: of('type'),
      isRequired: of('required') === 'true',
      isUnique: of('unique') === 'true',
      default: of('default'),
      isStored: of('stored') === 'true',
      isRemoved: of('remove') === 'true',
    })
  }
  return rows
}

type ReadFields = {
  fields: SchemaField[]
  /** Names of the fields that are to go. */
  removed: string[]
  /** An error of the service with the rows of this form in its paths. */
  inRows(error: AppError): AppError
}

/**
 * Rows without a name are no fields. What the form does not know of stays: somebody added it while it was open. Throws 400 naming everything that is wrong, by the
 * inputs of the form.
 */
export function readFields(form: Form, stored: readonly SchemaField[]): ReadFields {
  const rows = rowsOfForm(form.all())
  const kept = [...rows.entries()].filter(([, row]) => row.name !== '' && !row.isRemoved)
  const rowAt = (at: number): number => kept[at]?.[0] ?? at
  const errors: ErrorDetail[] = []
  const given = kept.map(([at, row]) => fieldOf(row, stored, (message) => errors.push(about(at, message))))
  const parsed = parseSchemaFields(given)
  const details = [...errors, ...parsed.errors.map((detail) => inRow(detail, rowAt))]
  if (details.length > 0) throw marked(...details)
  return {
    fields: [...parsed.fields, ...stored.filter(({ name }) => rows.every((row) => row.name !== name))],
    removed: rows.flatMap((row) => (row.isRemoved && row.isStored ? [row.name] : [])),
    inRows: (error) =>
      error.details === undefined
        ? error
        : new AppError(error.kind, error.message, {
            details: error.details.map((detail) => inRow(detail, rowAt)),
          }),
  }
}

const about = (at: number, message: string): ErrorDetail => ({ path: `fields[${at}].default`, message })

const inRow = ({ path, message }: ErrorDetail, rowAt: (at: number) => number): ErrorDetail => ({
  path: path.replace(/^fields\[(\d+)\]/, (_, at: string) => `fields[${rowAt(Number(at))}]`),
  message,
})

function fieldOf(row: FieldRow, stored: readonly SchemaField[], problem: (message: string) => void) {
  const field = { name: row.name, type: row.type, required: row.isRequired, unique: row.isUnique }
  const type = FIELD_TYPES.find((one) => one === row.type)
  // What was left as it is stays what it is: an empty text is a default that no input can say.
  const was = stored.find(({ name }) => name === row.name)
  if (was?.type === type && was?.default !== undefined && row.default === defaultText(was.default))
    return { ...field, default: was.default }
  if (row.default === '' || type === undefined) return field
  const checked = convertFieldText(type, row.default)
  if (!checked.ok) problem(checked.message)
  return checked.ok ? { ...field, default: checked.value } : field
}

const defaultText = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
