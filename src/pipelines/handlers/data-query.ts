import { Type } from 'typebox'
import { AppError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { findRecordJson, queryRecordsJson, type RecordQuery } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { checkFilters, checkWholeNumber, checkWord } from '../language/handlers/words.ts'
import { JsonText } from '../language/json-text.ts'
import {
  expression,
  filtersOf,
  logicOf,
  namedRecordOf,
  numberOr,
  objectOf,
  optionalText,
  schemaId,
  schemaOf,
  selectionConfig,
  wholeNumber,
} from './config.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 10_000

export const dataQueryHandler: Handler = {
  names: ['data_query'],
  summary: 'Finds records.',
  result:
    'a list of records, newest first; with `recordId` or `single` one record or null. More than 8 MiB is the error `QUERY_TOO_LARGE`.',
  config: Type.Object(
    {
      schemaId,
      ...selectionConfig,
      pageSize: Type.Optional(
        numberOr(`the most records to return: default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT}`),
      ),
      limit: Type.Optional(numberOr('an alias of `pageSize`')),
      page: Type.Optional(numberOr('the number of the page, from 1')),
      offset: Type.Optional(numberOr('the number of records to skip, instead of `page`')),
      orderBy: Type.Optional(
        Type.Object(
          { field: expression('a field'), direction: Type.Optional(expression('asc or desc')) },
          { additionalProperties: false, description: '`{ field, direction }`, direction `asc` or `desc`' },
        ),
      ),
      select: Type.Optional(Type.Array(Type.String(), { description: 'the fields to return; default all' })),
      single: Type.Optional(
        Type.Union([Type.Boolean(), Type.String()], {
          description: 'true returns only the first record, or null',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  check: (config) => [...checkFilters(config), ...checkDirection(config)],
  foresee: (config) => checkNumbers(config),
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

const checkNumbers = (config: Readonly<Record<string, unknown>>) => [
  ...checkWholeNumber(config, 'pageSize', 1, MAX_LIMIT),
  ...checkWholeNumber(config, 'limit', 1, MAX_LIMIT),
  ...checkWholeNumber(config, 'page', 1, Number.MAX_SAFE_INTEGER),
  ...checkWholeNumber(config, 'offset', 0, Number.MAX_SAFE_INTEGER),
]

const checkDirection = ({ orderBy }: Readonly<Record<string, unknown>>) =>
  isRecord(orderBy) ? checkWord(orderBy['direction'], 'orderBy.direction', ['asc', 'desc']) : []

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
