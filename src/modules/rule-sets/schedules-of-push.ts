import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import type { AppliedSchedules } from '../schedules/model.ts'
import { applySchedules, exportedSchedules, noSchedules, type ScheduleDraft } from '../schedules/pushed.ts'
import { type ApplyOptions, applyRules } from './apply-rules.ts'
import type { Applied } from './model.ts'
import type { RuleDraft } from './push.ts'
import type { RuleSetRow } from './queries.ts'

export type AppliedSet = { rules: Applied; schedules: AppliedSchedules; warnings: string[] }

/**
 * Changes rules and schedules of the set to match the drafts; `schedules` null leaves those alone. A rule that goes takes its
 * schedules with it, unless they name another by then.
 */
export function applySet(
  ctx: Context,
  tx: DbOrTx,
  set: RuleSetRow,
  drafts: { rules: readonly RuleDraft[]; schedules: readonly ScheduleDraft[] | null },
  options: Omit<ApplyOptions, 'beforePrune'>,
): AppliedSet {
  const namesNow = () => exportedSchedules(tx, set.id).map(({ name }) => name)
  const before = namesNow()
  let done: ReturnType<typeof applySchedules> = { applied: noSchedules(), warnings: [] }
  const rules = applyRules(ctx, tx, set, drafts.rules, {
    ...options,
    beforePrune(kept) {
      if (drafts.schedules !== null)
        done = applySchedules(ctx, tx, set, drafts.schedules, { prune: options.prune, rules: kept })
    },
  })
  const { applied, warnings } = done
  const after = new Set(namesNow())
  const gone = before.filter((name) => !after.has(name))
  return { rules, schedules: { ...applied, deleted: gone }, warnings }
}

export const changesSchedules = ({ created, updated, deleted }: AppliedSchedules): boolean =>
  created.length + updated.length + deleted.length > 0

/** For the audit log; nothing if they stayed as they were. */
export const scheduleCounts = (schedules: AppliedSchedules): { schedules?: Record<string, number> } =>
  changesSchedules(schedules)
    ? {
        schedules: {
          created: schedules.created.length,
          updated: schedules.updated.length,
          deleted: schedules.deleted.length,
        },
      }
    : {}
