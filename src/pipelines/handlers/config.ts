import { Type } from 'typebox'
import { AppError } from '../../domain/errors.ts'
import {
  FILTER_OPS,
  type Filter,
  type FilterLogic,
  type FilterOp,
  type Selection,
} from '../../modules/records/service.ts'
import { findSchemaOf, type Schema } from '../../modules/schemas/service.ts'
import { AuthorError, type StepContext } from '../handler.ts'
import { checkFilters, numberOf } from '../language/handlers/words.ts'
import { JsonText, plain } from '../language/json-text.ts'

/** What the configurations of all handlers share: their descriptions, and how to read resolved values. */

type Config = Readonly<Record<string, unknown>>

export const expression = (description: string) => Type.String({ description })
export const numberOr = (description: string) =>
  Type.Union([Type.Number(), Type.String()], { description: `${description}; a number or an expression` })
/** A number with a limit: more is refused where it is written out, and counts as the limit where it is computed. */
export const numberUpTo = (most: number, description: string) =>
  numberOr(`${description}, at most ${most} (more from an expression counts as ${most})`)
export const anyValue = (description: string) => Type.Unknown({ description })
export const valuesByName = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description })

export const schemaId = Type.String({
  description: '`$schema:<name>`, a schema of this project',
  minLength: 1,
})

const filter = Type.Object(
  { op: Type.String(), value: Type.Optional(Type.Unknown()) },
  { additionalProperties: false },
)
export const filters = Type.Record(Type.String(), Type.Union([filter, Type.Array(filter)]), {
  description: `which records: \`{ <field>: { op, value } }\`, or a list of \`{ op, value }\` for several conditions on a field; \`op\` is one of ${FILTER_OPS.join(', ')}`,
})
export const filterLogic = Type.Union([Type.Literal('and'), Type.Literal('or')], {
  description: '`and` (the default): all filters hold; `or`: one does',
})

const invalid = (key: string, message: string) => new AppError('invalid', `${key} ${message}`)

/** Throws 500 for a schema that the project does not have: the rule is wrong, not the visitor. */
export function schemaOf({ ctx, projectId }: StepContext, config: Config): Schema {
  const reference = config['schemaId']
  const schema = typeof reference === 'string' ? findSchemaOf(ctx, projectId, reference) : undefined
  if (schema === undefined)
    throw new AppError('internal', 'The step names a schema that its project does not have', {
      cause: new AuthorError(`no schema ${String(reference)} in project ${projectId}`),
    })
  return schema
}

/** A whole number, or `fallback` if none is given. */
export function wholeNumber(config: Config, key: string, fallback: number, min: number): number {
  const value = config[key]
  if (value === undefined || value === null || value === '') return fallback
  const number = numberOf(value)
  if (number === undefined || number < min) throw invalid(key, `must be a whole number of at least ${min}`)
  return number
}

/** A text, or null if none is given. Converts numbers and booleans. */
export function optionalText(config: Config, key: string): string | null {
  const value = config[key]
  if (value === undefined || value === null) return null
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw invalid(key, 'must be a text')
}

export function objectOf(config: Config, key: string): Record<string, unknown> {
  const value = plain(config[key])
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(key, 'must be an object')
  const entries = Object.entries(value)
  return entries.some(([, inner]) => inner instanceof JsonText)
    ? Object.fromEntries(entries.map(([name, inner]) => [name, plain(inner)]))
    : (value as Record<string, unknown>)
}

export function filtersOf(config: Config): Filter[] {
  return Object.entries(objectOf(config, 'filters')).flatMap(([field, conditions]) =>
    [conditions].flat().map((condition) => filterOf(field, condition)),
  )
}

function filterOf(field: string, condition: unknown): Filter {
  const given = typeof condition === 'object' && condition !== null ? condition : {}
  const op = 'op' in given ? FILTER_OPS.find((one: FilterOp) => one === given.op) : undefined
  if (op === undefined) throw invalid(`filters.${field}.op`, `must be one of ${FILTER_OPS.join(', ')}`)
  return { field, op, value: 'value' in given ? plain(given.value) : null }
}

export const logicOf = (config: Config): FilterLogic => (config['filterLogic'] === 'or' ? 'or' : 'and')

export const hasRecordId = (config: Config): boolean => config['recordId'] !== undefined

/**
 * The record that a step names; null if it names none. An id that resolves to nothing selects nothing, never
 * everything.
 */
export function namedRecordOf(config: Config): (Selection & { recordId: string }) | null {
  if (!hasRecordId(config)) return null
  const recordId = optionalText(config, 'recordId') ?? ''
  return { recordId, filters: filtersOf(config), logic: logicOf(config) }
}

export function selectionOf(config: Config): Selection {
  const named = namedRecordOf(config)
  if (named !== null) return named
  const all = filtersOf(config)
  if (all.length === 0) throw new AppError('internal', 'The step needs recordId or filters, but has neither')
  return { filters: all, logic: logicOf(config) }
}

/** Requires one of the two, so that a typo never selects every record. */
export function checkSelection(config: Config): { path: string; message: string }[] {
  const given = config['filters']
  const hasFilters = typeof given === 'object' && given !== null && Object.values(given).flat().length > 0
  return hasRecordId(config) || hasFilters
    ? checkFilters(config)
    : [{ path: '', message: 'needs recordId, or at least one filter in filters' }]
}

export const selectionConfig = {
  recordId: Type.Optional(
    expression('the id of one record; if there are filters too, the record must match them'),
  ),
  filters: Type.Optional(filters),
  filterLogic: Type.Optional(filterLogic),
}
