import type { FieldType } from '../../src/domain/field-types.ts'
import type { SchemaField } from '../../src/domain/schema-fields.ts'
import { type FieldProps, field, fieldError, selectField, textArea } from '../components/field.ts'
import type { Html } from '../components/html.ts'
import type { Failed } from '../frame/project-request.ts'
import { inputName, valueText } from './record-form.ts'

/** The input for a field's value. After a rejected form it holds what was typed. */
export function recordInput(one: SchemaField, value: unknown, failed: Failed | undefined): Html {
  const name = inputName(one.name)
  const text = failed?.values[name] ?? valueText(one, value)
  const common = {
    name,
    label: one.name,
    hint: hintOf(one),
    error: fieldError(failed?.error, one.name),
    // An empty input gets the default.
    required: one.required && one.default === undefined,
  }
  if (one.type === 'boolean') return choice(common, text)
  // Browsers drop the first line break of a textarea, so add one that is not part of the value.
  if (isLong(one.type, text)) return textArea({ ...common, value: `\n${text}`, rows: rowsOf(text) })
  return field({ ...common, type: INPUT_TYPES[one.type] ?? 'text', value: text, verbatim: true })
}

const INPUT_TYPES: Partial<Record<FieldType, NonNullable<FieldProps['type']>>> = {
  email: 'email',
  url: 'url',
  integer: 'number',
  date: 'date',
}

const isLong = (type: FieldType, text: string): boolean =>
  type === 'text' || type === 'json' || text.includes('\n')

const rowsOf = (text: string): number =>
  Math.min(20, 2 + text.split('\n').length + Math.floor(text.length / 60))

function hintOf({ type, unique }: SchemaField): string | undefined {
  const parts = [HINTS[type], unique && 'Must be unique among all records.'].filter(Boolean)
  return parts.length === 0 ? undefined : parts.join(' ')
}

const HINTS: Partial<Record<FieldType, string>> = {
  number: 'A number.',
  datetime: 'Date and time, such as 2026-11-20T12:00:00Z.',
  json: 'JSON.',
}

const choice = (common: { name: string; label: string; error: string | undefined }, text: string): Html =>
  selectField({
    ...common,
    value: text,
    options: [
      { value: '', label: 'Empty' },
      { value: 'true', label: 'Yes' },
      { value: 'false', label: 'No' },
    ],
  })
