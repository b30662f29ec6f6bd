import { AppError } from '../../domain/errors.ts'
import { createRecord, createRecordJson } from '../../modules/records/service.ts'
import { JsonText } from '../language/json-text.ts'
import type { Runner } from '../runner.ts'
import { objectOf, schemaOf } from './config.ts'

export const dataCreateRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const schema = schemaOf(step, config)
    const fields = objectOf(config, 'fields')
    if (config['failOnError'] !== false) return new JsonText(await createRecordJson(step.ctx, schema, fields))
    try {
      return { ...(await createRecord(step.ctx, schema, fields)), errors: null }
    } catch (error) {
      return { errors: errorsOf(error) }
    }
  },
}

/** Why the record is refused, by field. Rethrows any other error. */
function errorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof AppError) || error.details === undefined) throw error
  const { kind, message, details } = error
  // The detail of a clash says "must be unique", which tells a visitor nothing.
  return Object.fromEntries(details.map((one) => [one.path, kind === 'conflict' ? message : one.message]))
}
