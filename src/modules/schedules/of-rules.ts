import type { Context } from '../../context.ts'
import { type DbOrTx, refuseTaken } from '../../db/open.ts'
import { MAX_SCHEDULES } from '../../domain/schedule.ts'
import { cannotUndo } from '../undo/kind.ts'
import { countSchedulesOf, insertSchedule, type ScheduleRow } from './queries.ts'
import { settleNext } from './settle-next.ts'

export type { ScheduleRow } from './queries.ts'
export { listSchedulesOfRules } from './queries.ts'

/**
 * Those of a rule that comes back, as they were set and from now on: a time that passed meanwhile is not made up for. Throws 409
 * for a name that is taken by now, and past the limit of the project.
 */
export function restoreSchedules(ctx: Context, tx: DbOrTx, rows: readonly ScheduleRow[]): void {
  for (const row of rows) {
    const back = { ...row, nextRunAt: null, firedAt: null, isMissed: false, interruptions: 0 }
    refuseTaken(`There is a schedule ${row.name} already`, () =>
      insertSchedule(tx, { ...back, updatedAt: ctx.now() }),
    )
    settleNext(ctx, tx, row.id)
  }
  const projectId = rows[0]?.projectId
  if (projectId !== undefined && countSchedulesOf(tx, projectId) > MAX_SCHEDULES)
    throw cannotUndo(`the project would have more than ${MAX_SCHEDULES} schedules`)
}
