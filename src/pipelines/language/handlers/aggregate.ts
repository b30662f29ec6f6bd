import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { OPERATIONS } from '../../../domain/record-words.ts'
import type { Handler } from '../handler.ts'
import { expression, filterLogic, filters, schemaId } from './config.ts'
import { checkFilters, checkWord, constantOf } from './words.ts'

export const aggregateHandler: Handler<'aggregate_handler'> = {
  names: ['aggregate_handler', 'db_aggregate'],
  summary: 'Counts records, or computes the sum, average, minimum or maximum of a field.',
  result: 'a number (null if there are no values); with `groupBy` a list of `{ <field>: group, value }`.',
  config: Type.Object(
    {
      schemaId,
      operation: Type.String({ description: `one of ${OPERATIONS.join(', ')}` }),
      field: Type.Optional(expression('the field to compute from; `count` needs none')),
      filters: Type.Optional(filters),
      filterLogic: Type.Optional(filterLogic),
      groupBy: Type.Optional(
        expression('a field to group by: one result for each of its values, at most 10 000'),
      ),
    },
    { additionalProperties: false },
  ),
  check: (config) => [...checkWord(config['operation'], 'operation', OPERATIONS), ...checkFilters(config)],
  foresee: checkField,
}

function checkField({ operation, field = null }: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const name = constantOf(operation)
  const isNeeded = name !== 'count' && OPERATIONS.some((one) => one === name)
  const given = constantOf(field)
  return isNeeded && (given === null || given === '')
    ? [{ path: 'field', message: `is required: the field that ${name} computes from` }]
    : []
}
