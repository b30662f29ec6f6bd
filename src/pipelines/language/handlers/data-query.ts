import { Type } from 'typebox'
import { isRecord } from '../../../domain/is-record.ts'
import type { Handler } from '../handler.ts'
import { expression, numberOr, schemaId, selectionConfig } from './config.ts'
import { checkFilters, checkWholeNumber, checkWord } from './words.ts'

export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 10_000

export const dataQueryHandler: Handler<'data_query'> = {
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
}

const checkNumbers = (config: Readonly<Record<string, unknown>>) => [
  ...checkWholeNumber(config, 'pageSize', 1, MAX_LIMIT),
  ...checkWholeNumber(config, 'limit', 1, MAX_LIMIT),
  ...checkWholeNumber(config, 'page', 1, Number.MAX_SAFE_INTEGER),
  ...checkWholeNumber(config, 'offset', 0, Number.MAX_SAFE_INTEGER),
]

const checkDirection = ({ orderBy }: Readonly<Record<string, unknown>>) =>
  isRecord(orderBy) ? checkWord(orderBy['direction'], 'orderBy.direction', ['asc', 'desc']) : []
