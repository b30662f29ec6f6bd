import type { Context } from '../../context.ts'
import { inRelaxedTransaction } from '../../db/relaxed.ts'
import { deleteUndoStatesBefore, UNDO_MS } from '../../db/undo-states.ts'
import { GO_ON, inSteps, type Stop } from '../../platform/in-steps.ts'

const REMOVED_AT_ONCE = 500

/** Removes the former states of changes that are too old to be undone. */
export function removeOldUndoStates(ctx: Context, stop: Stop = GO_ON): Promise<void> {
  const before = ctx.now() - UNDO_MS
  const remove = () => deleteUndoStatesBefore(ctx.db, before, REMOVED_AT_ONCE)
  return inSteps(stop, () => inRelaxedTransaction(ctx.db, remove) === REMOVED_AT_ONCE)
}
