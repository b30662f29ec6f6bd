import { Type } from 'typebox'
import { deleteRecords } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { checkSelection, schemaId, schemaOf, selectionConfig, selectionOf } from './config.ts'

export const dataDeleteHandler: Handler = {
  names: ['data_delete'],
  summary: 'Deletes records: one by its id, or all that the filters select.',
  result: '`{ count, deletedIds }`.',
  config: Type.Object({ schemaId, ...selectionConfig }, { additionalProperties: false }),
  limitMs: null,
  check: checkSelection,
  async run(step, config) {
    const deletedIds = await deleteRecords(step.ctx, schemaOf(step, config), selectionOf(config))
    return { count: deletedIds.length, deletedIds }
  },
}
