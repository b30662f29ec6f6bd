import { deleteRecords } from '../../modules/records/service.ts'
import type { Runner } from '../runner.ts'
import { schemaOf, selectionOf } from './config.ts'

export const dataDeleteRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const deletedIds = await deleteRecords(step.ctx, schemaOf(step, config), selectionOf(config))
    return { count: deletedIds.length, deletedIds }
  },
}
