import { Type } from 'typebox'
import { updateRecords } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import {
  checkSelection,
  hasRecordId,
  objectOf,
  schemaId,
  schemaOf,
  selectionConfig,
  selectionOf,
  valuesByName,
} from './config.ts'

export const dataUpdateHandler: Handler = {
  names: ['data_update'],
  summary: 'Changes fields of records: of one by its id, or of all that the filters select.',
  result: 'for `recordId` the record, null when there is none; for `filters` `{ count, updated }`.',
  config: Type.Object(
    { schemaId, ...selectionConfig, fields: valuesByName('the fields to change and their values') },
    { additionalProperties: false },
  ),
  limitMs: null,
  check: checkSelection,
  async run(step, config) {
    const schema = schemaOf(step, config)
    const updated = await updateRecords(step.ctx, schema, selectionOf(config), objectOf(config, 'fields'))
    return hasRecordId(config) ? (updated[0] ?? null) : { count: updated.length, updated }
  },
}
