import { didYouMean } from '../domain/file-problems.ts'
import { isRecord } from '../domain/is-record.ts'
import { RECORD_COLUMNS } from '../domain/schema-fields.ts'
import { ExpressionError, parseExpression } from '../pipelines/language/expressions.ts'
import { hasTags } from '../pipelines/language/templates.ts'
import { type Checker, label, type Path } from './checks.ts'

/** A schema of the set: its name and the names of its fields; null if its file is too broken to tell. */
export type KnownSchema = { name: string; fields: readonly string[] | null }

/**
 * Warns about fields that a step names but the schema does not have: a write to one is lost, and a filter on one fails.
 * This is only a warning because the schema on the server may have more fields than the file.
 */
export function checkFieldNames(
  schema: KnownSchema,
  config: Record<string, unknown>,
  path: Path,
  checker: Checker,
): void {
  const { fields } = schema
  if (fields === null) return
  const check = (
    name: string,
    at: Path,
    place: 'key' | 'value',
    more: readonly string[] = RECORD_COLUMNS,
  ) => {
    const known = [...fields, ...more]
    if (known.includes(name)) return
    const there = known.length === 0 ? 'none' : known.join(', ')
    const message = `${name} is not a field of the schema ${schema.name}, which has ${there}.${didYouMean(name, known)}`
    checker.warn(at, `${label(at)}${message}`, place)
  }
  const { filters, select, orderBy, groupBy, field } = config
  for (const key of ['fields', 'add', 'map', 'extraFields'])
    for (const name of keysOf(config[key])) check(name, [...path, key, name], 'key', [])
  for (const name of keysOf(filters)) check(name, [...path, 'filters', name], 'key')
  for (const [i, name] of (Array.isArray(select) ? select : []).entries())
    if (typeof name === 'string') check(name, [...path, 'select', i], 'value')
  const orderField = isRecord(orderBy) ? orderBy['field'] : undefined
  for (const [at, given] of [
    [[...path, 'orderBy', 'field'], orderField],
    [[...path, 'groupBy'], groupBy],
    [[...path, 'field'], field],
  ] as const) {
    const name = literalOf(given)
    if (name !== null) check(name, at, 'value')
  }
}

const keysOf = (value: unknown): string[] => (isRecord(value) ? Object.keys(value) : [])

/** The value that the rule gives literally; null for one that is computed at run time. */
function literalOf(value: unknown): string | null {
  if (typeof value !== 'string' || hasTags(value)) return null
  try {
    const expression = parseExpression(value)
    return expression.kind === 'literal' && typeof expression.value === 'string' ? expression.value : null
  } catch (error) {
    if (error instanceof ExpressionError) return null
    throw error
  }
}
