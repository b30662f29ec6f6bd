import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { type DbOrTx, inTransaction, refuseTaken } from '../../db/open.ts'
import { inDurableTransaction } from '../../db/relaxed.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime, parseTime } from '../../domain/iso-time.ts'
import {
  DEFAULT_ZONE,
  flawOfRule,
  flawsOfTiming,
  MAX_SCHEDULES,
  methodOf,
  nextRunsOf,
  refusesSchedules,
  scheduledRule,
  type Timing,
} from '../../domain/schedule.ts'
import { authorizeAgain, type Grant, within } from '../auth/authorize.ts'
import { projectOf } from '../projects/service.ts'
import { parseMethods } from '../proxy-rules/methods.ts'
import { findRule, listPipelines, type RuleRow } from '../proxy-rules/set-rules.ts'
import { claimNow } from './claims.ts'
import { clockOf } from './clock.ts'
import type { NewSchedule, PreviewQuery, ScheduleChange, ScheduleView } from './model.ts'
import {
  countSchedulesOf,
  deleteScheduleRow,
  findSchedule,
  findScheduleOfSet,
  insertSchedule,
  listSchedulesOf,
  type SchedulePatch,
  type ScheduleRecord,
  type ScheduleRow,
  updateSchedule,
} from './queries.ts'
import { settleNext } from './settle-next.ts'
import { auditOf, toScheduleView } from './view.ts'

export type { ScheduleView } from './model.ts'
export type { ScheduleRecord } from './queries.ts'

/** For who runs it. */
export const findScheduled = (ctx: Context, id: string): ScheduleRecord | undefined =>
  findSchedule(ctx.db.orm, id)

export const listSchedules = (ctx: Context, grant: Grant): ScheduleView[] =>
  listSchedulesOf(ctx.db.orm, projectOf(ctx, grant).id).map(toScheduleView)

export const getSchedule = (ctx: Context, grant: Grant, id: string): ScheduleView =>
  toScheduleView(requireSchedule(ctx.db.orm, grant, id))

/** The schedule, if it is of the project of the grant; else throws 404. */
export function requireSchedule(db: DbOrTx, grant: Grant, id: string | undefined): ScheduleRecord {
  const found = id === undefined ? undefined : findSchedule(db, id)
  if (found === undefined || found.projectId !== grant.projectId)
    throw new AppError('not_found', 'There is no such schedule')
  return found
}

/** Throws 400 for what cannot be scheduled and past 100 of a project, 404 for an unknown rule, 409 for a name that is taken. */
export function createSchedule(ctx: Context, grant: Grant, input: NewSchedule): ScheduleView {
  const timing = { cron: input.cron.trim(), timezone: input.timezone ?? DEFAULT_ZONE }
  checkTiming(timing)
  const id = inTransaction(ctx.db, (tx) => {
    const current = authorizeAgain(ctx, grant, 'traffic:configure')
    const projectId = projectOf(ctx, current, tx).id
    const rule = requireRule(tx, current, input.ruleId)
    refuseTooMany(tx, projectId)
    const now = ctx.now()
    const row: ScheduleRow = {
      ...freshSchedule(ctx, projectId),
      ...ruleColumns(rule),
      ...timing,
      name: input.name,
      isEnabled: input.isEnabled ?? true,
      catchUp: input.catchUp ?? 'none',
      description: input.description ?? null,
      nextRunAt: null,
      createdAt: now,
      updatedAt: now,
    }
    insert(ctx, tx, row)
    const made = requireSchedule(tx, current, row.id)
    audit(ctx, tx, current.actor, { ...aboutSchedule('schedule.create', made), after: auditOf(made) })
    return row.id
  })
  void clockOf(ctx).changed()
  return getSchedule(ctx, grant, id)
}

function insert(ctx: Context, tx: DbOrTx, row: ScheduleRow): void {
  refuseNameOfSet(tx, row)
  refuseTaken(nameTaken(row.name), () => insertSchedule(tx, row))
  settleNext(ctx, tx, row.id)
}

/** Of one that a push made, only whether it is on can be changed. */
export function changeSchedule(ctx: Context, grant: Grant, id: string, input: ScheduleChange): ScheduleView {
  const change = given(input)
  if (isEmpty(change)) return getSchedule(ctx, grant, id)
  inTransaction(ctx.db, (tx) => {
    const current = authorizeAgain(ctx, grant, 'traffic:configure')
    const before = requireSchedule(tx, current, id)
    if (before.isPushed && Object.keys(change).some((key) => key !== 'isEnabled')) throw managedByPush(before)
    const patch = patchOf(ctx, tx, current, before, change)
    if (patch.name !== undefined && patch.name !== before.name) refuseNameOfSet(tx, { ...before, ...patch })
    refuseTaken(nameTaken(patch.name ?? before.name), () => updateSchedule(tx, id, patch))
    if (changesTiming(before, { ...before, ...patch })) settleNext(ctx, tx, id)
    audit(ctx, tx, current.actor, {
      ...aboutSchedule('schedule.change', before),
      before: auditOf(before),
      after: auditOf({ ...before, ...patch }),
    })
  })
  void clockOf(ctx).changed()
  return getSchedule(ctx, grant, id)
}

function patchOf(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  before: ScheduleRecord,
  { cron, timezone, ruleId, ...plain }: ReturnType<typeof given<ScheduleChange>>,
): SchedulePatch {
  const timing = { cron: cron?.trim() ?? before.cron, timezone: timezone ?? before.timezone }
  if (cron !== undefined || timezone !== undefined) checkTiming(timing)
  const isOther = ruleId !== undefined && ruleId !== before.ruleId
  const rule = isOther ? ruleColumns(requireRule(tx, grant, ruleId)) : {}
  return { ...plain, ...timing, ...rule, updatedAt: ctx.now() }
}

const changesTiming = (before: ScheduleRow, after: ScheduleRow): boolean =>
  (['cron', 'timezone', 'isEnabled', 'ruleId'] as const).some((key) => before[key] !== after[key])

export function deleteSchedule(ctx: Context, grant: Grant, id: string): void {
  inTidyingTransaction(ctx.db, (tx) => {
    const before = requireSchedule(tx, grant, id)
    if (before.isPushed) throw managedByPush(before)
    deleteScheduleRow(tx, id)
    audit(ctx, tx, grant.actor, { ...aboutSchedule('schedule.delete', before), before: auditOf(before) })
  })
}

/** Claims a run and lets it begin; it does not wait for its end. Throws 409 while one runs. */
export async function runScheduleNow(
  ctx: Context,
  grant: Grant,
  id: string,
): Promise<{ scheduleId: string; firedAt: string }> {
  const { fired } = await inDurableTransaction(ctx.db, (tx) => {
    const current = authorizeAgain(ctx, grant, 'traffic:configure')
    const schedule = requireSchedule(tx, current, id)
    const firedAt = ctx.now()
    if (!claimNow(ctx.db, id, firedAt))
      throw new AppError('conflict', `${schedule.name} is running`, { code: 'SCHEDULE_RUNNING' })
    audit(ctx, tx, current.actor, aboutSchedule('schedule.run', schedule))
    const { projectId, name } = schedule
    return { fired: { id, projectId, name, firedAt } }
  })
  clockOf(ctx).begin(fired)
  return { scheduleId: id, firedAt: isoTime(fired.firedAt) }
}

/** The rules that a schedule can run. `isRefused`: its runs are, as nobody is signed in. */
export function schedulableRules(
  ctx: Context,
  grant: Grant,
): { id: string; name: string; isRefused: boolean }[] {
  return listPipelines(ctx.db.orm, projectOf(ctx, grant).id)
    .filter((rule) => flawOfRule(rule) === null)
    .map((rule) => ({
      id: rule.id,
      name: scheduledRule({ method: ruleColumns(rule).method, pathPattern: rule.pathPattern }),
      isRefused: refusesSchedules(JSON.parse(rule.pipelineConfig ?? '{}')),
    }))
}

const MAX_PREVIEW = 50
const DEFAULT_PREVIEW = 5

/** The next times, by the code that fires. */
export function previewRuns(ctx: Context, query: PreviewQuery): { runs: string[] } {
  const timing = { cron: query.cron, timezone: query.timezone || DEFAULT_ZONE }
  checkTiming(timing)
  const count = query.count ? Number(query.count) : DEFAULT_PREVIEW
  if (!Number.isInteger(count) || count < 1 || count > MAX_PREVIEW)
    throw invalidField('count', `A whole number from 1 to ${MAX_PREVIEW}`)
  const from = parseTime('from', query.from) ?? ctx.now()
  return { runs: nextRunsOf(timing, from, count).map(isoTime) }
}

/** Throws 400 naming the field. */
export function checkTiming(timing: Timing): void {
  const details = flawsOfTiming(timing)
  if (details[0] !== undefined)
    throw new AppError('invalid', `${details[0].path}: ${details[0].message}`, { details })
}

/** What a new schedule has before anything is said about it. */
export const freshSchedule = (ctx: Context, projectId: string) => ({
  id: ctx.newId(),
  projectId,
  isPushed: false,
  firedAt: null,
  isMissed: false,
  interruptions: 0,
  lastRunAt: null,
  lastStatus: null,
  lastError: null,
  lastDurationMs: null,
})

export function refuseTooMany(tx: DbOrTx, projectId: string): void {
  if (countSchedulesOf(tx, projectId) >= MAX_SCHEDULES)
    throw new AppError('invalid', `A project has at most ${MAX_SCHEDULES} schedules: delete one first`)
}

function requireRule(tx: DbOrTx, grant: Grant, ruleId: string): RuleRow {
  const rule = within(grant, findRule(tx, ruleId))
  if (rule === undefined) throw new AppError('not_found', 'There is no such rule')
  const flaw = flawOfRule(rule)
  if (flaw !== null) throw invalidField('ruleId', flaw)
  return rule
}

const ruleColumns = (rule: RuleRow) => ({
  ruleId: rule.id,
  ruleSetId: rule.ruleSetId,
  method: methodOf({ ...rule, methods: parseMethods(rule.methods) }),
})

function refuseNameOfSet(
  tx: DbOrTx,
  { id, ruleSetId, name }: Pick<ScheduleRow, 'id' | 'ruleSetId' | 'name'>,
): void {
  const there = ruleSetId === null ? undefined : findScheduleOfSet(tx, ruleSetId, name)
  if (there !== undefined && there.id !== id) throw new AppError('conflict', nameTaken(name))
}

const nameTaken = (name: string): string => `There is a schedule ${name} already`

const managedByPush = ({ name }: ScheduleRow): AppError =>
  new AppError('conflict', `${name} comes from a push: change its file and push again`, {
    code: 'MANAGED_BY_PUSH',
  })

const aboutSchedule = (action: string, { id, name, projectId }: ScheduleRow) => ({
  action,
  target: { kind: 'schedule', id, name },
  projectId,
})
