import type { Context } from '../../context.ts'
import type { DbOrTx } from '../../db/open.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import {
  DEFAULT_ZONE,
  findScheduledRule,
  flawsOfTiming,
  MAX_SCHEDULES,
  refusesSchedules,
  scheduledRule,
} from '../../domain/schedule.ts'
import { parseMethods } from '../proxy-rules/methods.ts'
import type { RuleRow } from '../proxy-rules/set-rules.ts'
import type { AppliedSchedules, ExportedSchedule, PushedSchedule } from './model.ts'
import {
  countSchedulesOf,
  countSchedulesOfSet,
  deleteScheduleRow,
  findScheduleOfSet,
  insertSchedule,
  listPushed,
  type ScheduleRow,
  updateSchedule,
} from './queries.ts'
import { freshSchedule } from './service.ts'
import { settleNext } from './settle-next.ts'
import { toExportedSchedule } from './view.ts'

/** A schedule of a push with every setting decided. `index`: its place in the push. */
export type ScheduleDraft = Pick<
  ScheduleRow,
  'name' | 'cron' | 'timezone' | 'isEnabled' | 'catchUp' | 'description'
> & { rule: string; index: number }

/** Decides the settings of each schedule of a push. Throws 400 with all errors of all of them. */
export function readSchedules(schedules: readonly PushedSchedule[]): ScheduleDraft[] {
  const seen = new Set<string>()
  const details: ErrorDetail[] = []
  const drafts = schedules.map((given, index): ScheduleDraft => {
    const { name, rule, timezone = DEFAULT_ZONE, isEnabled = true, catchUp = 'none' } = given
    const cron = given.cron.trim()
    const flaws: ErrorDetail[] = flawsOfTiming({ cron, timezone })
    if (seen.has(name)) flaws.push({ path: 'name', message: 'the push has two schedules with this name' })
    seen.add(name)
    for (const flaw of flaws) details.push(atSchedule(index, name, flaw))
    return { name, cron, timezone, rule, isEnabled, catchUp, description: given.description ?? null, index }
  })
  refuse(details)
  return drafts
}

const atSchedule = (index: number, name: string, { path, message }: ErrorDetail): ErrorDetail => ({
  path: `schedules[${index}].${path}`,
  message: `Schedule ${name}: ${message}`,
})

function refuse(details: ErrorDetail[]): void {
  if (details[0] !== undefined) throw new AppError('invalid', details[0].message, { details })
}

type SetOfSchedules = { id: string; projectId: string; isPreview: boolean }

type ApplyOptions = {
  prune: boolean
  /** Those that the set has after the push. */
  rules: readonly RuleRow[]
}

/**
 * Changes the schedules of the set to match the drafts; unchanged ones are not written, and those made by hand stay. Throws 400
 * for those that name no rule of the set that can run, and past the limit.
 */
export function applySchedules(
  ctx: Context,
  tx: DbOrTx,
  set: SetOfSchedules,
  drafts: readonly ScheduleDraft[],
  { prune, rules }: ApplyOptions,
): { applied: AppliedSchedules; warnings: string[] } {
  const applied = noSchedules()
  const found = rulesOfDrafts(drafts, rules)
  for (const row of listPushed(tx, set.id)) {
    if (drafts.some(({ name }) => name === row.name)) continue
    if (prune) deleteScheduleRow(tx, row.id)
    applied[prune ? 'deleted' : 'pruneCandidates'].push(row.name)
  }
  for (const one of found) applied[writeSchedule(ctx, tx, set, one)].push(one.draft.name)
  refusePastLimit(tx, set)
  return { applied, warnings: found.flatMap(warningsOf) }
}

/** Those of the files of a set, as a push has them. */
export const exportedSchedules = (db: DbOrTx, setId: string): ExportedSchedule[] =>
  listPushed(db, setId).map(toExportedSchedule)

export const noSchedules = (): AppliedSchedules => ({
  created: [],
  updated: [],
  deleted: [],
  unchanged: [],
  pruneCandidates: [],
})

type Found = { draft: ScheduleDraft; rule: RuleRow; method: string }

function rulesOfDrafts(drafts: readonly ScheduleDraft[], rows: readonly RuleRow[]): Found[] {
  const details: ErrorDetail[] = []
  const rules = rows.map((row) => ({ ...row, row, methods: parseMethods(row.methods) }))
  const found = drafts.flatMap((draft): Found[] => {
    const named = findScheduledRule(rules, draft.rule)
    if ('rule' in named) return [{ draft, rule: named.rule.row, method: named.method }]
    details.push(atSchedule(draft.index, draft.name, { path: 'rule', message: `rule ${named.flaw}` }))
    return []
  })
  refuse(details)
  return found
}

function writeSchedule(
  ctx: Context,
  tx: DbOrTx,
  set: SetOfSchedules,
  { draft: { rule: _, index: __, ...settings }, rule, method }: Found,
): 'created' | 'updated' | 'unchanged' {
  const before = findScheduleOfSet(tx, set.id, settings.name)
  const content = { ...settings, ruleId: rule.id, method, isPushed: true }
  const now = ctx.now()
  if (before === undefined) {
    const fresh = { ...freshSchedule(ctx, set.projectId), ruleSetId: set.id, nextRunAt: null }
    const row = { ...fresh, ...content, createdAt: now, updatedAt: now }
    insertSchedule(tx, row)
    settleNext(ctx, tx, row.id)
    return 'created'
  }
  const changed = (Object.keys(content) as (keyof typeof content)[]).filter(
    (key) => content[key] !== before[key],
  )
  if (changed.length === 0) return 'unchanged'
  updateSchedule(tx, before.id, { ...content, updatedAt: now })
  if (changed.some((key) => key === 'cron' || key === 'timezone' || key === 'isEnabled'))
    settleNext(ctx, tx, before.id)
  return 'updated'
}

/** A preview copy counts by itself: it does not fire. */
function refusePastLimit(tx: DbOrTx, { id, projectId, isPreview }: SetOfSchedules): void {
  const count = isPreview ? countSchedulesOfSet(tx, id) : countSchedulesOf(tx, projectId)
  if (count > MAX_SCHEDULES)
    throw new AppError(
      'invalid',
      `A project has at most ${MAX_SCHEDULES} schedules, and would have ${count}`,
      {
        details: [{ path: 'schedules', message: `At most ${MAX_SCHEDULES} schedules` }],
      },
    )
}

function warningsOf({ draft, rule, method }: Found): string[] {
  const pipeline = rule.pipelineConfig === null ? null : JSON.parse(rule.pipelineConfig)
  if (!refusesSchedules(pipeline)) return []
  const named = scheduledRule({ method, pathPattern: rule.pathPattern })
  return [
    `Schedule ${draft.name}: ${named} has auth_required, which refuses a scheduled run: nobody is signed in`,
  ]
}
