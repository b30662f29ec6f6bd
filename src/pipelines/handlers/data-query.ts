import { Type } from 'typebox'
import { AppError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { findRecord, queryRecordsJson, type RecordQuery } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { JsonText } from '../json-text.ts'
import {
  expression,
  filtersOf,
  logicOf,
  namedRecordOf,
  numberOr,
  numberUpTo,
  objectOf,
  optionalText,
  schemaId,
  schemaOf,
  selectionConfig,
  wholeNumber,
} from './config.ts'
import { checkFilters, checkWholeNumber, checkWord } from './words.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

export const dataQueryHandler: Handler = {
  names: ['data_query'],
  summary: 'Finds records.',
  result: 'a list of records, newest first; with `recordId` or `single` one record or null.',
  config: Type.Object(
    {
      schemaId,
      ...selectionConfig,
      pageSize: Type.Optional(numberUpTo(MAX_LIMIT, `the most records to return: default ${DEFAULT_LIMIT}`)),
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
    const selected = selectOf(config)
    const pick = (record: Record<string, unknown>) =>
      selected === null
        ? record
        : Object.fromEntries(
            selected.map((name) => [name, Object.hasOwn(record, name) ? record[name] : null]),
          )

    const named = namedRecordOf(config)
    if (named !== null) {
      const record = findRecord(step.ctx, schema, named)
      return record === undefined ? null : pick(record)
    }
    const isSingle = config['single'] === true || config['single'] === 'true'
    const query = queryOf(config)
    const outputOf = (json: string) => {
      if (selected === null && !isSingle) return new JsonText(json)
      const records: Record<string, unknown>[] = JSON.parse(json)
      return isSingle ? (records[0] === undefined ? null : pick(records[0])) : records.map(pick)
    }
    const json = queryRecordsJson(step.ctx, schema, isSingle ? { ...query, limit: 1 } : query)
    return json instanceof Promise ? json.then(outputOf) : outputOf(json)
  },
}

function queryOf(config: Readonly<Record<string, unknown>>): RecordQuery {
  const limit = Math.min(
    wholeNumber(config, 'pageSize', wholeNumber(config, 'limit', DEFAULT_LIMIT, 1), 1),
    MAX_LIMIT,
  )
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
