import { isDeepStrictEqual } from 'node:util'
import { audit } from '../../db/audit.ts'
import { refuseTaken } from '../../db/open.ts'
import { AppError } from '../../domain/errors.ts'
import { isSetThere } from '../rule-sets/attached-sets.ts'
import { clockOf } from '../schedules/clock.ts'
import { restoreSchedules } from '../schedules/of-rules.ts'
import { cannotUndo, changedSince, type Undoing, undoKind } from '../undo/kind.ts'
import { checkRule, checkSchemas } from './check-rule.ts'
import { parseStored, withoutValues } from './header-values.ts'
import {
  insertRule,
  listHandMade,
  type RuleLevel,
  type RulePatch,
  type RuleRow,
  updateRule,
} from './queries.ts'
import { isRedirected } from './redirected.ts'
import { isProjectAdmin, refuseSecrets, secretsBeyond } from './secret-rights.ts'
import {
  aboutRule,
  getRuleRecord,
  hasNewUse,
  hasSamePipeline,
  maySeeValues,
  type RemovedRule,
  removeRule,
  reorderRules,
  requireLevel,
} from './service.ts'
import { checkTarget } from './target.ts'
import {
  changeToUndo,
  fieldsBetween,
  hasSameField,
  type RuleChangeToUndo,
  type RuleField,
} from './undo-fields.ts'
import { withoutSecrets } from './view.ts'

/** Gone, unless somebody has changed it; its place does not count. */
export const ruleCreate = undoKind<RuleRow>({
  needs: 'traffic:configure',
  undo({ ctx, tx, grant, targetId }, made) {
    const rule = getRuleRecord(tx, grant, targetId)
    refuseOther(ctx, rule, made, fieldsOf(made))
    removeRule(ctx, tx, grant, targetId)
  },
})

/** With its stored header values, which still go where they went. */
export const ruleChange = undoKind<RuleChangeToUndo>({
  needs: 'traffic:configure',
  async prepare({ ctx }, { before, after }) {
    if (hasNewUse(after, before)) await checkTarget(ctx, before)
  },
  undo(undoing, { before, after }) {
    const { ctx, tx, grant, targetId } = undoing
    const { origin: _, ...rule } = getRuleRecord(tx, grant, targetId)
    const fields = fieldsBetween(before, after)
    refuseOther(ctx, rule, after, fields)
    const former: RulePatch = Object.fromEntries(fields.map((field) => [field, before[field]]))
    const patch: RulePatch = {
      ...former,
      ...valuesThatGo(undoing, { rule, before, former }),
      isWrittenByAdmin: isProjectAdmin(ctx, grant, rule.projectId),
      updatedAt: ctx.now(),
    }
    const back: RuleRow = { ...rule, ...patch }
    checkUsable(undoing, rule, back)
    refuseTaken('The rule set already has a rule with this path and method', () =>
      updateRule(tx, rule.id, patch),
    )
    audit(ctx, tx, grant.actor, {
      ...aboutRule('proxy_rule.change', back),
      before: withoutSecrets(rule),
      after: withoutSecrets(back),
      undo: changeToUndo(rule, back) ?? { before: rule, after: back },
    })
  },
})

/** The rule at its place, with its stored header values and its schedules. */
export const ruleDelete = undoKind<RemovedRule>({
  needs: 'traffic:configure',
  prepare: ({ ctx }, rule) => checkTarget(ctx, rule),
  undo(undoing, { schedules = [], ...rule }) {
    const { ctx, tx, grant } = undoing
    requireLevel(ctx, tx, grant, rule)
    if (rule.ruleSetId !== null && !isSetThere(tx, rule.ruleSetId))
      throw cannotUndo('the rule set of the rule is gone')
    const isWrittenByAdmin = isProjectAdmin(ctx, grant, rule.projectId)
    const back: RuleRow = { ...rule, isWrittenByAdmin, updatedAt: ctx.now() }
    checkUsable(undoing, undefined, back)
    refuseTaken('The rule set already has a rule with this path and method', () => insertRule(tx, back))
    restoreSchedules(ctx, tx, schedules)
    audit(ctx, tx, grant.actor, {
      ...aboutRule('proxy_rule.create', back),
      after: withoutSecrets(back),
      undo: back,
    })
  },
  done: (ctx) => void clockOf(ctx).changed(),
})

type Order = { level: RuleLevel; before: string[]; after: string[] }

export const ruleReorder = undoKind<Order>({
  needs: 'traffic:configure',
  undo({ ctx, tx, grant }, { level, before, after }) {
    const now = listHandMade(tx, level).map(({ id }) => id)
    if (!isDeepStrictEqual(now, after)) throw changedSince('the order of the rules')
    reorderRules(ctx, grant, level, before)
  },
})

const PLACE: readonly (keyof RuleRow)[] = ['order', 'updatedAt', 'isWrittenByAdmin']

const fieldsOf = (rule: RuleRow): RuleField[] =>
  (Object.keys(rule) as (keyof RuleRow)[]).filter((field): field is RuleField => !PLACE.includes(field))

function refuseOther({ secrets }: Undoing['ctx'], now: RuleRow, set: RuleRow, fields: RuleField[]): void {
  const other = fields.find((field) => !hasSameField(secrets, now, set, field))
  if (other !== undefined) throw changedSince(other)
}

type Former = { rule: RuleRow; before: RuleRow; former: RulePatch }

/**
 * Who may not see the stored values sends none of them elsewhere: not those of now to the former target, and not the former
 * ones to the target of now.
 */
function valuesThatGo({ ctx, grant }: Undoing, { rule, before, former }: Former): RulePatch {
  if (maySeeValues(ctx, grant, rule.projectId)) return {}
  const back = { ...rule, ...former }
  const isElsewhere = (from: RuleRow) =>
    isRedirected(ctx.secrets, from, { after: back, headers: undefined, onEmpty: 'declare' })
  if (former.headerConfig === undefined) {
    const stored = parseStored(rule.headerConfig)
    const cleared = stored !== null && isElsewhere(rule) ? withoutValues(stored) : null
    return cleared === null ? {} : { headerConfig: JSON.stringify(cleared) }
  }
  const stored = parseStored(before.headerConfig)
  if (stored !== null && withoutValues(stored) !== null && isElsewhere(before))
    throw changedSince('targetUrl')
  return {}
}

/** What writing the rule by hand would refuse. */
function checkUsable({ ctx, tx, grant }: Undoing, now: RuleRow | undefined, back: RuleRow): void {
  const isKept = now !== undefined && hasSamePipeline(now, back)
  checkRule(back, isKept)
  refuseSecrets(secretsBeyond(ctx, tx, grant, back.projectId), now, back)
  if (isKept) return
  try {
    checkSchemas(ctx, grant, back)
  } catch (error) {
    throw error instanceof AppError && error.kind === 'invalid' ? cannotUndo(error.message) : error
  }
}
