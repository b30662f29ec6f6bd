import { Type } from 'typebox'
import { deleteRecords } from '../../modules/records/service.ts'
import type { Handler } from '../handler.ts'
import { checkSelection, schemaId, schemaOf, selectionConfig, selectionOf } from './config.ts'

export const dataDeleteHandler: Handler = {
  names: ['data_delete'],
  summary: 'Deletes one record by its id, or all records that match the filters.',
  result: '`{ count, deletedIds }`.',
  config: Type.Object({ schemaId, ...selectionConfig }, { additionalProperties: false }),
  boundsOwnTime: true,
  check: checkSelection,
  async run(step, config) {
    const deletedIds = await deleteRecords(step.ctx, schemaOf(step, config), selectionOf(config))
    return { count: deletedIds.length, deletedIds }
  },
}
