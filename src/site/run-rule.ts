import type { Context } from '../context.ts'
import type { RunTrigger } from '../domain/run-trigger.ts'
import { toAppError } from '../http/error-response.ts'
import { recordRun } from '../modules/runs/service.ts'
import type { PipelineInput } from '../pipelines/input.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import { namesSecret } from '../pipelines/language/references.ts'
import { hasPostSteps, queuePostSteps } from '../pipelines/post-steps.ts'
import { explain, type RunOutcome, runPipeline } from '../pipelines/run.ts'
import type { Answer, Asker } from '../pipelines/runner.ts'
import { masked } from '../pipelines/trace.ts'

/** A run of a rule's pipeline, whoever asks for it. */
export type RuleRun = {
  rule: PipelineRule
  method: string
  /** As requested, below the site. */
  path: string
  /** For the server's own log, if it fails. */
  url: string
  trigger: RunTrigger
  scheduleId: string | null
  /** Checks whether it may run, and gathers what it runs with. Throws the refusal. */
  begin: () => Promise<PipelineInput>
  /** Who waits for the answer; nobody if it is missing. */
  asker?: Asker
}

export type RuleRunEnd = {
  response: Response
  failedStep: string | null
  /** What the authors of the rule may read of a failure. */
  error: string | null
}

type Ended = RuleRunEnd & { steps: string | null }

/** Runs a rule in this process and notes it in the run log. Failures are responses, too: never rejects. contract §9.3. */
export async function runRule(ctx: Context, asked: RuleRun): Promise<RuleRunEnd> {
  const { rule, trigger, scheduleId } = asked
  const startedAt = performance.now()
  const at = ctx.now()
  const ended = await run(ctx, asked)
  recordRun(ctx, {
    projectId: rule.projectId,
    ruleId: rule.id,
    ruleName: rule.pipelineConfig.name ?? null,
    phase: 'steps',
    pathPattern: rule.pathPattern,
    method: asked.method,
    path: asked.path,
    status: ended.response.status,
    durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    failedStep: ended.failedStep,
    error: ended.error,
    steps: ended.steps,
    namesSecret: ended.steps !== null && namesSecret(rule.pipelineConfig),
    startedAt: at,
    trigger,
    scheduleId,
  })
  return ended
}

async function run(ctx: Context, asked: RuleRun): Promise<Ended> {
  const { rule, asker = null } = asked
  let outcome: RunOutcome | undefined
  try {
    const input = await asked.begin()
    outcome = await runPipeline(ctx, rule, input, { asker })
    const { result } = outcome
    if ('error' in result) return failed(ctx, asked, result, outcome)
    const response = 'direct' in result ? result.direct.response : toResponse(result.answer)
    if (hasPostSteps(rule)) await goOn(ctx, { rule, input }, outcome)
    return { response, failedStep: null, error: null, steps: traceOf(outcome) }
  } catch (error) {
    return failed(ctx, asked, { error, step: null }, outcome)
  }
}

/** Queues the post steps, unless nothing happened: now, or when the stream that answers knows its output. */
async function goOn(
  ctx: Context,
  work: { rule: PipelineRule; input: PipelineInput },
  { result, outputs }: RunOutcome,
): Promise<void> {
  if ('error' in result) return
  const queue = async (all: Record<string, unknown>) =>
    (await queuePostSteps(ctx, { ...work, outputs: all })).start()
  const answer = 'direct' in result ? result.direct : result.answer
  if (answer.isFinal) return
  const onEnd = 'direct' in result ? result.direct.onEnd : null
  if (!('direct' in result) || onEnd === null) return queue(outputs)
  onEnd((output) => queue(Object.assign(Object.create(null), outputs, under(result.names, output))))
}

const under = (names: readonly string[], output: unknown): Record<string, unknown> =>
  Object.fromEntries(names.map((name) => [name, output]))

function failed(
  ctx: Context,
  asked: RuleRun,
  { error, step }: { error: unknown; step: string | null },
  outcome: RunOutcome | undefined,
): Ended {
  const failure = toAppError(ctx, error, asked)
  const body = step === null ? failure.toBody() : { ...failure.toBody(), step }
  const response = Response.json(body, {
    status: failure.status,
    headers: { ...failure.headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
  const said = masked(explain(failure), outcome?.secrets ?? new Set())
  return {
    response,
    failedStep: step,
    error: String(said),
    steps: outcome === undefined ? null : traceOf(outcome),
  }
}

const traceOf = ({ trace }: RunOutcome): string | null => (trace === null ? null : JSON.stringify(trace))

function toResponse({ status, headers, body }: Answer): Response {
  const [only] = headers
  if (headers.length === 1 && only !== undefined)
    return new Response(body, {
      status,
      headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', [only[0]]: only[1] },
    })
  const all = new Headers([['x-content-type-options', 'nosniff']])
  const seen = new Set<string>()
  for (const [name, value] of headers) {
    if (name === 'set-cookie' || seen.has(name)) all.append(name, value)
    else all.set(name, value)
    seen.add(name)
  }
  if (!seen.has('cache-control')) all.set('cache-control', 'no-store')
  return new Response(body, { status, headers: all })
}
