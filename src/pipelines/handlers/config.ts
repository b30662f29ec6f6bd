import { AppError } from '../../domain/errors.ts'
import { FILTER_OPS, type FilterOp } from '../../domain/record-words.ts'
import type { Filter, FilterLogic, Selection } from '../../modules/records/service.ts'
import { findSchemaOf, type Schema } from '../../modules/schemas/service.ts'
import { hasRecordId } from '../language/handlers/config.ts'
import { numberOf } from '../language/handlers/words.ts'
import { JsonText, plain } from '../language/json-text.ts'
import { AuthorError, type StepContext } from '../runner.ts'

/** How handlers read the resolved values of their configuration. */

type Config = Readonly<Record<string, unknown>>

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
