import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { isoTime } from '../domain/iso-time.ts'
import { flawOfRule, refusesSchedules } from '../domain/schedule.ts'
import { findProjectById } from '../modules/projects/service.ts'
import { findRule, type RuleRow } from '../modules/proxy-rules/set-rules.ts'
import type { Fired, RunEnd } from '../modules/schedules/claims.ts'
import { findScheduled, type ScheduleRecord } from '../modules/schedules/service.ts'
import type { PipelineInput } from '../pipelines/input.ts'
import { trackWork } from '../pipelines/track-work.ts'
import { checkWithoutVisitor } from '../pipelines/validators.ts'
import { pipelineProject } from './pipeline-project.ts'
import { type RuleRunEnd, runRule } from './run-rule.ts'
import { scheduledPlace } from './scheduled-place.ts'
import { pipelineRuleOf } from './site-rules.ts'

type Outcome = Pick<RunEnd, 'status' | 'error'>

/** Runs the rule of a schedule without a visitor. contract 14.6. Never rejects. */
export const runSchedule = (ctx: Context, fired: Fired): Promise<Outcome> =>
  trackWork(ctx, perform(ctx, fired))

async function perform(ctx: Context, fired: Fired): Promise<Outcome> {
  try {
    return await outcomeOf(await answerSchedule(ctx, fired))
  } catch (error) {
    if (error instanceof AppError) return failure(error.message)
    ctx.log.error('a scheduled run failed', { schedule: fired.id, error })
    return failure('The server could not run it. Its log says why.')
  }
}

/** The same with the answer that nobody gets otherwise. Throws 409 if there is no rule to run. */
export async function answerSchedule(
  ctx: Context,
  fired: Pick<Fired, 'id' | 'firedAt'>,
): Promise<RuleRunEnd> {
  const schedule = findScheduled(ctx, fired.id)
  const rule = schedule === undefined ? undefined : findRule(ctx.db.orm, schedule.ruleId)
  if (schedule === undefined || rule === undefined) throw new AppError('conflict', 'The rule is gone')
  const flaw = flawOfRule(rule) ?? (rule.isEnabled ? null : `is switched off: ${rule.pathPattern}`)
  if (flaw !== null) throw new AppError('conflict', `The rule ${flaw}`)
  return run(ctx, fired, { schedule, rule })
}

const failure = (error: string): Outcome => ({ status: 'failed', error })

function run(
  ctx: Context,
  { firedAt }: Pick<Fired, 'firedAt'>,
  { schedule, rule }: { schedule: ScheduleRecord; rule: RuleRow },
): Promise<RuleRunEnd> {
  const pipeline = pipelineRuleOf(rule)
  const { id, name, method } = schedule
  const path = rule.pathPattern
  return runRule(ctx, {
    rule: pipeline,
    method,
    path,
    url: `schedule:${path}`,
    trigger: 'schedule',
    scheduleId: id,
    begin: async () => {
      if (refusesSchedules(pipeline.pipelineConfig)) throw nobodySignedIn()
      checkWithoutVisitor(ctx, pipeline)
      return inputOf(ctx, rule, { method, schedule: { id, name, firedAt: isoTime(firedAt) } })
    },
  })
}

const nobodySignedIn = (): AppError =>
  new AppError('unauthenticated', 'auth_required refuses a scheduled run: nobody is signed in')

function inputOf(
  ctx: Context,
  { projectId, pathPattern, aliasId, ruleSetId }: RuleRow,
  { method, schedule }: { method: string; schedule: NonNullable<PipelineInput['schedule']> },
): PipelineInput {
  const project = findProjectById(ctx, projectId)
  const { alias, label, commitSha } = scheduledPlace(ctx.db, { projectId, aliasId, ruleSetId })
  const body = { scheduleId: schedule.id, scheduleName: schedule.name, firedAt: schedule.firedAt }
  return {
    method,
    path: pathPattern,
    query: {},
    params: {},
    headers: {},
    ...(label === null ? {} : { origin: ctx.siteUrl(`${label}.${ctx.config.baseDomain}`) }),
    ip: '',
    userAgent: null,
    body: { kind: 'json', value: body },
    rawBody: () => JSON.stringify(body),
    user: null,
    schedule,
    project: pipelineProject(ctx, projectId),
    deployment: { owner: project?.owner ?? '', repo: project?.name ?? '', commitSha, alias },
  }
}

/** Reads the answer to its end, which nobody gets: a stream may still be at work. */
async function outcomeOf({ response, error }: RuleRunEnd): Promise<Outcome> {
  const { status } = response
  if (response.body !== null) for await (const _ of response.body);
  if (status < 400) return { status: 'ok', error: null }
  return failure(error ?? `The pipeline answered ${status}`)
}
