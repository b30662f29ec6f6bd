import { Type } from 'typebox'
import { createRecordJson } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { JsonText } from '../json-text.ts'
import { objectOf, schemaId, schemaOf, valuesByName } from './config.ts'

export const dataCreateHandler: Handler = {
  names: ['data_create'],
  summary: 'Stores a record. It is on the disk when the step ends.',
  result: 'the record `{ id, ...fields, createdAt, updatedAt }`.',
  config: Type.Object(
    { schemaId, fields: valuesByName('the value of each field of the schema, as expressions') },
    { additionalProperties: false },
  ),
  boundsOwnTime: true,
  async run(step, config) {
    return new JsonText(await createRecordJson(step.ctx, schemaOf(step, config), objectOf(config, 'fields')))
  },
}
