import type { Context } from '../context.ts'
import type { AppError } from '../domain/errors.ts'
import type { RunTrigger } from '../domain/run-trigger.ts'
import { toAppError } from '../http/error-response.ts'
import { type NewRun, recordRun } from '../modules/runs/service.ts'
import type { PipelineInput } from '../pipelines/input.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import { namesSecret } from '../pipelines/language/references.ts'
import { hasPostSteps, queuePostSteps } from '../pipelines/post-steps.ts'
import { explain, type RunOutcome, runPipeline } from '../pipelines/run.ts'
import type { Answer, Asker, StreamEnd } from '../pipelines/runner.ts'
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

/** `error`: what the authors of the rule may read of a failure. */
type RunFailure = { status: number; failedStep: string | null; error: string }

export type RuleRunEnd = { response: Response; error: string | null }

/** A stream that answers goes on after the steps. */
type Stream = {
  onEnd: (end: StreamEnd) => void
  /** Queues the post steps. */
  queue: (output: unknown) => Promise<void>
  failureOf: (error: AppError) => RunFailure
}

type Ended = { response: Response; failure: RunFailure | null; steps: string | null; stream?: Stream }

/** Runs a rule in this process and notes it in the run log. Failures are responses, too: never rejects. contract §9.3. */
export async function runRule(ctx: Context, asked: RuleRun): Promise<RuleRunEnd> {
  const note = noteOf(ctx, asked)
  const { response, failure, steps, stream } = await run(ctx, asked)
  const noted = (broke: RunFailure | null) =>
    note({ status: response.status, failedStep: null, error: null, ...broke, steps })
  if (stream === undefined) noted(failure)
  else whenEnded(stream, noted)
  return { response, error: failure?.error ?? null }
}

/** The run ends with its stream, which cannot change its status any more. */
function whenEnded({ onEnd, queue, failureOf }: Stream, noted: (broke: RunFailure | null) => void): void {
  let hasEnded = false
  const end = (broke: RunFailure | null) => {
    if (!hasEnded) noted(broke)
    hasEnded = true
  }
  onEnd({
    async whole(output) {
      await queue(output)
      end(null)
    },
    broke: (error) => end(failureOf(error)),
    left: () => end(null),
  })
}

/** Begins to measure the run. */
function noteOf(ctx: Context, asked: RuleRun) {
  const { rule, trigger, scheduleId, method, path } = asked
  const startedAt = performance.now()
  const at = ctx.now()
  return (end: Pick<NewRun, 'status' | 'failedStep' | 'error' | 'steps'>): void =>
    recordRun(ctx, {
      ...end,
      projectId: rule.projectId,
      ruleId: rule.id,
      ruleName: rule.pipelineConfig.name ?? null,
      phase: 'steps',
      pathPattern: rule.pathPattern,
      method,
      path,
      durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
      namesSecret: end.steps !== null && namesSecret(rule.pipelineConfig),
      startedAt: at,
      trigger,
      scheduleId,
    })
}

async function run(ctx: Context, asked: RuleRun): Promise<Ended> {
  const { rule, asker = null } = asked
  let outcome: RunOutcome | undefined
  try {
    const input = await asked.begin()
    outcome = await runPipeline(ctx, rule, input, { asker })
    const { result, outputs, secrets } = outcome
    if ('error' in result) return failed(ctx, asked, result, outcome)
    const queue = async (all: Record<string, unknown>) => {
      if (hasPostSteps(rule)) (await queuePostSteps(ctx, { rule, input, outputs: all })).start()
    }
    const ended = { failure: null, steps: traceOf(outcome) }
    if ('answer' in result) {
      if (!result.answer.isFinal) await queue(outputs)
      return { ...ended, response: toResponse(result.answer) }
    }
    const { direct, names } = result
    const { response, onEnd } = direct
    if (onEnd === null) {
      if (!direct.isFinal) await queue(outputs)
      return { ...ended, response }
    }
    const stream: Stream = {
      onEnd,
      queue: (output) => queue(Object.assign(Object.create(null), outputs, under(names, output))),
      failureOf: (error) => failureOf(error, names[0] ?? null, secrets),
    }
    return { ...ended, response, stream }
  } catch (error) {
    return failed(ctx, asked, { error, step: null }, outcome)
  }
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
  return {
    response,
    failure: failureOf(failure, step, outcome?.secrets ?? new Set()),
    steps: outcome === undefined ? null : traceOf(outcome),
  }
}

const failureOf = (failure: AppError, step: string | null, secrets: ReadonlySet<string>): RunFailure => ({
  status: failure.status,
  failedStep: step,
  error: String(masked(explain(failure), secrets)),
})

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
