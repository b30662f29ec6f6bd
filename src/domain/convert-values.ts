import { convertFieldText, type FieldType } from './field-types.ts'
import { isIsoDate, isoTime, parseDateTime } from './iso-time.ts'
import { parseMailDate } from './mail-date.ts'
import type { SchemaField } from './schema-fields.ts'

/**
 * The values of a step in the types of their fields, where they say the same: `'5'` for a number. What cannot be converted
 * stays as it is, for the check to refuse. contract 14.1.
 */
export function convertedFor(
  fields: readonly SchemaField[],
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const types = new Map(fields.map(({ name, type }) => [name, type]))
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, converted(types.get(name), value)]),
  )
}

function converted(type: FieldType | undefined, value: unknown): unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return typeof value === 'string' ? numberOf(type, value) : value
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value
    case 'date':
      return typeof value === 'string' ? dateOf(value) : value
    case 'datetime':
      return typeof value === 'number' ? timeOf(value) : value
    case 'string':
    case 'text':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    default:
      return value
  }
}

/** The number that the text is, or the milliseconds of the time that it names. */
function numberOf(type: 'number' | 'integer', text: string): unknown {
  const number = convertFieldText(type, text)
  if (number.ok) return number.value
  const trimmed = text.trim()
  const at = isIsoDate(trimmed) ? Date.parse(trimmed) : (parseDateTime(trimmed) ?? parseMailDate(trimmed))
  return at ?? text
}

/** The day of the time in UTC. */
function dateOf(text: string): string {
  const at = parseDateTime(text.trim())
  return at === null ? text : isoTime(at).slice(0, 'YYYY-MM-DD'.length)
}

/** A day has 86 400 000 ms; no time is further than 100 million days from 1970. ECMA-262 §21.4.1.1. */
const LATEST = 8.64e15

const timeOf = (at: number): unknown => (Math.abs(at) <= LATEST ? isoTime(at) : at)
