import { AppError } from '../../domain/errors.ts'
import { OPERATIONS } from '../../domain/record-words.ts'
import { aggregateRecords } from '../../modules/records/service.ts'
import type { Runner } from '../runner.ts'
import { filtersOf, logicOf, optionalText, schemaOf } from './config.ts'

export const aggregateRunner: Runner = {
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
