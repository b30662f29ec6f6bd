import { AppError, type ErrorDetail } from '../../src/domain/errors.ts'
import { convertFieldText, FIELD_TYPES } from '../../src/domain/field-types.ts'
import { parseSchemaFields, type SchemaField } from '../../src/domain/schema-fields.ts'
import type { Form } from '../frame/form.ts'
import { marked } from '../frame/form.ts'

/** A field as in the form: texts and checkboxes, as typed. */
export type FieldRow = {
  name: string
  type: string
  isRequired: boolean
  isUnique: boolean
  default: string
  /** True if the schema already has the field, so its name cannot change. */
  isStored: boolean
  isRemoved: boolean
}

/** More than a schema can have. Limits what a forged form can cost. */
const MAX_ROWS = 250

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

/** The rows of the form, including empty ones. */
export function rowsOfForm(values: Readonly<Record<string, string>>): FieldRow[] {
  const rows: FieldRow[] = []
  for (let at = 0; at < MAX_ROWS && values[`fields[${at}].name`] !== undefined; at++) {
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
  /** The names of the fields to remove. */
  removed: string[]
  /** Translates the paths of a service error to the rows of this form. */
  inRows(error: AppError): AppError
}

/**
 * Ignores rows without a name. Keeps stored fields that the form does not have: somebody added them while it was open.
 * Throws 400 and names all errors by the inputs of the form.
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
  // Keep an unchanged default: no input can express an empty text as a default.
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
