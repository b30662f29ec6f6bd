import type { Context } from '../context.ts'
import { groupCommit } from '../db/group-commit.ts'
import { prepared } from '../db/statements.ts'
import { originOf } from '../http/arrival.ts'
import { recordRun } from '../modules/runs/service.ts'
import type { PipelineInput } from './input.ts'
import { jsonOf } from './language/json-text.ts'
import type { PipelineRule } from './language/model.ts'
import { explain, runPostSteps } from './run.ts'
import { masked } from './trace.ts'
import { trackWork } from './track-work.ts'

/**
 * Work to do after a response. It is stored in the database before the response goes out, and deleted when done, so
 * that a server that crashes in between does it after its next start. A post step runs once or, after a crash, twice,
 * but is never lost. A step that fails is logged and not retried.
 */
type Work = { rule: PipelineRule; input: PipelineInput; outputs: Record<string, unknown> }

/** Work that keeps crashing the server is given up after this many attempts. */
const MAX_ATTEMPTS = 3
const RESUMED_AT_ONCE = 10

/** Work that this process has queued and not yet done. It is in the database too, but must not be resumed. */
const ownWorkIds = new WeakMap<Context, Set<string>>()

export const hasPostSteps = ({ pipelineConfig }: PipelineRule): boolean =>
  pipelineConfig.postSteps?.some(({ isEnabled }) => isEnabled !== false) ?? false

/** Resolves when the work is durable. Call `start` once the response is on its way. */
export async function queuePostSteps(ctx: Context, work: Work): Promise<{ start: () => void }> {
  const id = ctx.newId()
  const { rule, outputs } = work
  const input = storable(work.input)
  const json = `{"rule":${JSON.stringify(rule)},"input":${JSON.stringify(input)},"outputs":${jsonOf(outputs)}}`
  const own = ownWorkIds.get(ctx) ?? new Set<string>()
  ownWorkIds.set(ctx, own.add(id))
  await groupCommit(ctx.db, (db) => {
    prepared(
      db,
      'INSERT INTO post_steps (id, project_id, work, attempts, created_at) VALUES (?, ?, ?, 0, ?)',
    ).run(id, rule.projectId, json, ctx.now())
  })
  return { start: () => void setImmediate(() => trackWork(ctx, perform(ctx, id, { rule, input, outputs }))) }
}

/** Resumes work that an earlier server left, while requests may already be served. Resolves when all of it is done. */
export async function resumePostSteps(ctx: Context): Promise<void> {
  const rows = prepared<{ id: string; work: string; attempts: number }>(
    ctx.db,
    'SELECT id, work, attempts FROM post_steps WHERE project_id IN (SELECT id FROM projects) ORDER BY id',
  )
    .all()
    .filter(({ id }) => ownWorkIds.get(ctx)?.has(id) !== true)
  for (let i = 0; i < rows.length; i += RESUMED_AT_ONCE)
    await Promise.all(rows.slice(i, i + RESUMED_AT_ONCE).map((row) => resume(ctx, row)))
}

async function resume(
  ctx: Context,
  { id, work, attempts }: { id: string; work: string; attempts: number },
): Promise<void> {
  if (attempts >= MAX_ATTEMPTS) {
    ctx.log.error('gave up post steps: the server stopped each time they ran', { id, attempts })
    await remove(ctx, id)
    return
  }
  await groupCommit(ctx.db, (db) => {
    prepared(db, 'UPDATE post_steps SET attempts = attempts + 1 WHERE id = ?').run(id)
  })
  await trackWork(ctx, perform(ctx, id, JSON.parse(work)))
}

async function perform(ctx: Context, id: string, { rule, input, outputs }: Work): Promise<void> {
  const startedAt = performance.now()
  try {
    const failures = await runPostSteps(ctx, rule, input, outputs)
    for (const { step, error, secrets } of failures) {
      const message = String(masked(explain(error), secrets))
      ctx.log.error('a post step failed', {
        rule: rule.id,
        step,
        status: error.status,
        error: message,
        cause: error.cause,
      })
      recordRun(ctx, {
        ruleId: rule.id,
        projectId: rule.projectId,
        pathPattern: rule.pathPattern,
        ruleName: rule.pipelineConfig.name ?? null,
        phase: 'post_steps',
        method: input.method,
        path: input.path,
        startedAt: ctx.now(),
        status: error.status,
        durationMs: performance.now() - startedAt,
        failedStep: step,
        error: message,
        steps: null,
        trigger: input.schedule === undefined ? 'request' : 'schedule',
        scheduleId: input.schedule?.id ?? null,
      })
    }
    await remove(ctx, id)
  } catch (error) {
    ctx.log.error('post steps could not be run', { rule: rule.id, error })
  }
}

async function remove(ctx: Context, id: string): Promise<void> {
  await groupCommit(ctx.db, (db) => {
    prepared(db, 'DELETE FROM post_steps WHERE id = ?').run(id)
  })
  ownWorkIds.get(ctx)?.delete(id)
}

/**
 * The input without what cannot be stored, so that resumed work sees the same. A body that could not be read becomes
 * none.
 */
function storable({
  rawBody: _,
  queryError: __,
  file: ___,
  arrival,
  ...input
}: PipelineInput): PipelineInput {
  const origin = arrival === undefined ? {} : { origin: originOf(arrival) }
  const body = input.body.kind === 'broken' ? ({ kind: 'none' } as const) : input.body
  return { ...input, ...origin, body }
}
