import { Type } from 'typebox'
import type { Handler } from '../handler.ts'
import { checkSelection, schemaId, selectionConfig } from './config.ts'

export const dataDeleteHandler: Handler<'data_delete'> = {
  names: ['data_delete'],
  summary: 'Deletes one record by its id, or all records that match the filters.',
  result: '`{ count, deletedIds }`.',
  config: Type.Object({ schemaId, ...selectionConfig }, { additionalProperties: false }),
  check: checkSelection,
}
