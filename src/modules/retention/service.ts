import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError, invalidField } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { onePer } from '../../platform/one-per.ts'
import { authorizeAgain, type Grant } from '../auth/authorize.ts'
import { findProjectById } from '../projects/service.ts'
import {
  NO_POLICY,
  type Policy,
  type PolicyChange,
  type RetentionView,
  type RunOrder,
  type RunView,
} from './model.ts'
import { findPolicy, putPolicy } from './queries.ts'
import { runRetention, tryRetention } from './run.ts'

export type { Policy, Reason, RemovedView, RetentionView, RunView } from './model.ts'

export function getRetention(ctx: Context, grant: Grant): RetentionView {
  const found = findPolicy(ctx.db, projectOf(grant))
  if (found === null) return { ...NO_POLICY, lastRun: null }
  const { keepLast, keepDays, lastRunAt, lastRemoved, lastBytes } = found
  const lastRun =
    lastRunAt === null ? null : { at: isoTime(lastRunAt), removedCount: lastRemoved, bytes: lastBytes }
  return { keepLast, keepDays, lastRun }
}

/** Changes the rules that are given. Nothing is removed before the next run. */
export function changeRetention(ctx: Context, grant: Grant, change: PolicyChange): RetentionView {
  const patch = given(change)
  const projectId = projectOf(grant)
  if (!isEmpty(patch))
    inTidyingTransaction(ctx.db, (tx) => {
      const project = findProjectById(ctx, projectId)
      if (project === undefined) throw new AppError('not_found', 'There is no such project')
      const before = rulesOf(ctx, projectId)
      const after = { ...before, ...patch }
      putPolicy(ctx.db, projectId, after, ctx.now())
      audit(ctx, tx, grant.actor, {
        action: 'retention.change',
        target: { kind: 'project', id: projectId, name: `${project.owner}/${project.name}` },
        projectId,
        before,
        after,
        undo: differingFields(before, after),
      })
    })
  return getRetention(ctx, grant)
}

/** Runs the policy, or says what a run would do, by these rules if some are given. One run of a project at a time. */
export function orderRun(
  ctx: Context,
  grant: Grant,
  { dryRun = true, ...rules }: RunOrder,
): Promise<RunView> {
  const projectId = projectOf(grant)
  const tried = given(rules)
  if (dryRun) return tryRetention(ctx, projectId, { ...rulesOf(ctx, projectId), ...tried })
  const [name] = Object.keys(tried)
  if (name !== undefined)
    throw invalidField(name, 'tries rules out, so it needs dryRun: true; a run goes by the stored rules')
  return oneAtATime(ctx, projectId, () => {
    authorizeAgain(ctx, grant, 'retention:manage')
    return runRetention(ctx, grant, projectId)
  })
}

function rulesOf(ctx: Context, projectId: string): Policy {
  const { keepLast, keepDays } = findPolicy(ctx.db, projectId) ?? NO_POLICY
  return { keepLast, keepDays }
}

const runningOf = onePer((_: Context) => new Map<string, Promise<unknown>>())

/** Waits for what runs for this project. */
export async function oneAtATime<T>(ctx: Context, projectId: string, work: () => Promise<T>): Promise<T> {
  const running = runningOf(ctx)
  const before = running.get(projectId)
  const mine = before === undefined ? work() : before.then(work)
  const ended = mine.catch(() => undefined)
  running.set(projectId, ended)
  try {
    return await mine
  } finally {
    if (running.get(projectId) === ended) running.delete(projectId)
  }
}

function projectOf({ projectId }: Grant): string {
  if (projectId === null) throw new AppError('not_found', 'There is no such project')
  return projectId
}
