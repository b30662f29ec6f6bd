import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { aggregateRecords, OPERATIONS } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { checkFilters, checkWord, constantOf } from '../language/handlers/words.ts'
import {
  expression,
  filterLogic,
  filters,
  filtersOf,
  logicOf,
  optionalText,
  schemaId,
  schemaOf,
} from './config.ts'

export const aggregateHandler: Handler = {
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
  run(step, config) {
    const operation = OPERATIONS.find((one) => one === config['operation'])
    if (operation === undefined)
      throw new AppError('invalid', `operation must be one of ${OPERATIONS.join(', ')}`)
    return aggregateRecords(step.ctx, schemaOf(step, config), {
      operation,
      field: optionalText(config, 'field'),
      groupBy: optionalText(config, 'groupBy'),
      filters: filtersOf(config),
      logic: logicOf(config),
    })
  },
}

function checkField({ operation, field = null }: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const name = constantOf(operation)
  const isNeeded = name !== 'count' && OPERATIONS.some((one) => one === name)
  const given = constantOf(field)
  return isNeeded && (given === null || given === '')
    ? [{ path: 'field', message: `is required: the field that ${name} computes from` }]
    : []
}
