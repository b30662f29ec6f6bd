import type { SchemaField } from '../../src/domain/schema-fields.ts'
import { type Content, html } from '../components/html.ts'
import { formatTime, moment } from '../components/time.ts'
import { valueText } from './record-form.ts'

const MAX_LETTERS = 100

/** A value in a table, on one line and shortened if it is long. */
export function valueCell(field: SchemaField, value: unknown): Content {
  if (value === null || value === undefined || value === '') return html`<span class="muted">–</span>`
  if (field.type === 'boolean') return value === true ? 'Yes' : 'No'
  if (field.type === 'datetime' && typeof value === 'string') return moment(value)
  return shorten(field.type === 'json' ? JSON.stringify(value) : valueText(field, value))
}

/**
 * A record's name is its first field. If that is empty, it is the end of the id, which differs most between records.
 */
export function recordName(
  fields: readonly SchemaField[],
  record: { id: string } & Readonly<Record<string, unknown>>,
): string {
  const [first] = fields
  const text = first === undefined ? '' : nameText(first, record[first.name])
  return shorten(text.replace(/\s+/g, ' ').trim() || record.id.slice(-12))
}

const nameText = (field: SchemaField, value: unknown): string =>
  field.type === 'datetime' ? formatTime(valueText(field, value)) : valueText(field, value)

export const isNumeric = ({ type }: SchemaField): boolean => type === 'number' || type === 'integer'

/** Never cuts a surrogate pair in half. */
const shorten = (text: string): string =>
  text.length > MAX_LETTERS ? `${text.slice(0, MAX_LETTERS).replace(/[\ud800-\udbff]$/, '')}…` : text
