import { AppError } from '../../domain/errors.ts'
import { updateRecords } from '../../modules/records/service.ts'
import { hasRecordId } from '../language/handlers/config.ts'
import type { Runner } from '../runner.ts'
import { objectOf, schemaOf, selectionOf } from './config.ts'

export const dataUpdateRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const schema = schemaOf(step, config)
    const fields = objectOf(config, 'fields')
    const result = await updateRecords(step.ctx, schema, selectionOf(config), fields, sumsOf(config))
    return hasRecordId(config) ? (result.updated[0] ?? null) : result
  },
}

function sumsOf(config: Readonly<Record<string, unknown>>): Record<string, number> {
  const sums = Object.entries(objectOf(config, 'add')).map(([name, value]): [string, number] => {
    if (typeof value !== 'number') throw new AppError('invalid', `add.${name} must be a number`)
    return [name, value]
  })
  return Object.fromEntries(sums)
}
