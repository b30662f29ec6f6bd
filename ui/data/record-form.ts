import type { ErrorDetail } from '../../src/domain/errors.ts'
import { convertFieldText } from '../../src/domain/field-types.ts'
import type { SchemaField } from '../../src/domain/schema-fields.ts'
import type { Form } from '../frame/form.ts'
import { marked } from '../frame/form.ts'

/** The values of a record, by field name. */
type Values = Readonly<Record<string, unknown>>

/** The maximum total length of a form's inputs, in characters. Longer values are shown but cannot be edited. */
const MAX_LETTERS = 250_000
/** The same in bytes as a browser sends it: at most nine per character. */
export const MAX_FORM_BYTES = 3 * 1024 * 1024

/** The name of a field's input, unique in the form. */
export const inputName = (field: string): string => `field.${field}`

/** A value as text, for inputs and display. Empty for null. */
export function valueText({ type }: SchemaField, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (type === 'datetime' && typeof value === 'string') return value.replace('.000Z', 'Z')
  if (type === 'json') return JSON.stringify(value, null, 2)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The names of the fields that are too long for the form. */
export function tooLong(fields: readonly SchemaField[], values: Values): ReadonlySet<string> {
  let left = MAX_LETTERS
  const names = fields.filter((field) => {
    const { length } = valueText(field, values[field.name])
    if (length > left) return true
    left -= length
    return false
  })
  return new Set(names.map(({ name }) => name))
}

/**
 * The values in the form that differ from the record, converted to their types. If `stored` is null: all filled-in
 * values. Empty text is null. Throws 400 and names every field whose text does not fit its type.
 */
export function readRecord(
  form: Form,
  fields: readonly SchemaField[],
  stored: Values | null,
): Record<string, unknown> {
  const sent = form.all()
  const details: ErrorDetail[] = []
  const changed = fields.flatMap((field): [string, unknown][] => {
    const text = sent[inputName(field.name)]?.replaceAll('\r\n', '\n')
    if (text === undefined || text === shownText(field, stored)) return []
    if (text === '') return stored === null ? [] : [[field.name, null]]
    const checked = convertFieldText(field.type, text)
    if (!checked.ok) details.push({ path: field.name, message: checked.message })
    return checked.ok ? [[field.name, checked.value]] : []
  })
  if (details.length > 0) throw marked(...details)
  return Object.fromEntries(changed)
}

/** The text as the input showed it. Browsers send each line break as CRLF. */
const shownText = (field: SchemaField, stored: Values | null): string | undefined =>
  stored === null ? undefined : valueText(field, stored[field.name]).replaceAll('\r\n', '\n')
