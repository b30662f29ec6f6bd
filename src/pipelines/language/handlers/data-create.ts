import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { schemaId, valuesByName } from './config.ts'

export const dataCreateHandler: Handler<'data_create'> = {
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
  check: ({ fields, failOnError }) =>
    failOnError === false && Object.hasOwn(Object(fields), 'errors') ? [ERRORS_IS_TAKEN] : [],
}

const ERRORS_IS_TAKEN: ErrorDetail = {
  path: 'fields.errors',
  message: 'must have another name when failOnError is false',
}
