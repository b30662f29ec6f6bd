import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { nextRunAt } from '../../domain/schedule.ts'
import { findSchedule, updateSchedule } from './queries.ts'

/** Sets the next time from now on: none while it is paused, and of a preview copy. */
export function settleNext(ctx: Context, tx: DbOrTx, id: string): void {
  const row = findSchedule(tx, id)
  if (row === undefined) return
  const fires = row.isEnabled && row.set?.isPreview !== true
  updateSchedule(tx, id, { nextRunAt: fires ? nextRunAt(row, ctx.now()) : null })
}
