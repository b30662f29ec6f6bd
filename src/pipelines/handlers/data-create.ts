import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { createRecord, createRecordJson } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { JsonText } from '../language/json-text.ts'
import { objectOf, schemaId, schemaOf, valuesByName } from './config.ts'

export const dataCreateHandler: Handler = {
  names: ['data_create'],
  summary: 'Stores a record. It is on the disk when the step ends.',
  result: 'the record `{ id, ...fields, createdAt, updatedAt }`.',
  config: Type.Object(
    {
      schemaId,
      fields: valuesByName('the value of each field of the schema, as expressions'),
      failOnError: Type.Optional(
        Type.Boolean({
          description:
            'with `false`, a record that is refused, such as a second one with the value of a unique field, does not fail the step: the output has `errors`, which is `{ <field>: message }`, or null if the record is stored; default true',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  boundsOwnTime: true,
  check: ({ fields, failOnError }) =>
    failOnError === false && Object.hasOwn(Object(fields), 'errors') ? [ERRORS_IS_TAKEN] : [],
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

const ERRORS_IS_TAKEN: ErrorDetail = {
  path: 'fields.errors',
  message: 'must have another name when failOnError is false',
}

/** Why the record is refused, by field. Rethrows any other error. */
function errorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof AppError) || error.details === undefined) throw error
  const { kind, message, details } = error
  // The detail of a clash says "must be unique", which tells a visitor nothing.
  return Object.fromEntries(details.map((one) => [one.path, kind === 'conflict' ? message : one.message]))
}
