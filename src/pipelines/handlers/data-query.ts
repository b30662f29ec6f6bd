import { AppError } from '../../domain/errors.ts'
import { findRecordJson, queryRecordsJson, type RecordQuery } from '../../modules/records/service.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../language/handlers/data-query.ts'
import { JsonText } from '../language/json-text.ts'
import type { Runner } from '../runner.ts'
import { filtersOf, logicOf, namedRecordOf, objectOf, optionalText, schemaOf, wholeNumber } from './config.ts'

export const dataQueryRunner: Runner = {
  run(step, config) {
    const schema = schemaOf(step, config)
    const select = selectOf(config)
    const named = namedRecordOf(config)
    if (named !== null) {
      const json = findRecordJson(step.ctx, schema, named, select)
      return json === undefined ? null : new JsonText(json)
    }
    const isSingle = config['single'] === true || config['single'] === 'true'
    const outputOf = (json: string) => (isSingle ? firstOf(json) : new JsonText(json))
    const query = { ...queryOf(config), ...(isSingle ? { limit: 1 } : {}), select }
    const json = queryRecordsJson(step.ctx, schema, query)
    return json instanceof Promise ? json.then(outputOf) : outputOf(json)
  },
}

function firstOf(list: string): unknown {
  const records: unknown[] = JSON.parse(list)
  return records[0] ?? null
}

/** Throws 400 for a limit that is too high: fewer records than were asked for would look like all. contract 14.1. */
function limitOf(config: Readonly<Record<string, unknown>>, key: string, fallback: number): number {
  const limit = wholeNumber(config, key, fallback, 1)
  if (limit > MAX_LIMIT) throw new AppError('invalid', `${key} must be at most ${MAX_LIMIT}`)
  return limit
}

function queryOf(config: Readonly<Record<string, unknown>>): Omit<RecordQuery, 'select'> {
  const limit = limitOf(config, 'pageSize', limitOf(config, 'limit', DEFAULT_LIMIT))
  const page = wholeNumber(config, 'page', 1, 1)
  const offset = wholeNumber(config, 'offset', Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER), 0)
  return { filters: filtersOf(config), logic: logicOf(config), orderBy: orderOf(config), limit, offset }
}

function orderOf(config: Readonly<Record<string, unknown>>): RecordQuery['orderBy'] {
  const given = objectOf(config, 'orderBy')
  const field = optionalText(given, 'field')
  if (field === null || field === '') return null
  const direction = optionalText(given, 'direction') ?? 'desc'
  if (direction !== 'asc' && direction !== 'desc')
    throw new AppError('invalid', 'orderBy.direction must be asc or desc')
  return { field, direction }
}

function selectOf(config: Readonly<Record<string, unknown>>): string[] | null {
  const given = config['select']
  return Array.isArray(given) ? given.map(String) : null
}
