import type { Context } from '../context.ts'
import { MINUTE_MS } from '../domain/durations.ts'
import { AppError, messageOf } from '../domain/errors.ts'
import { OutboundError } from '../platform/outbound/error.ts'
import type { PipelineInput } from './input.ts'
import { type CompiledStep, compilePipeline, holdsCondition, resolveValue } from './language/compile.ts'
import { ExpressionError, type Scope } from './language/expressions.ts'
import type { BodyTemplate } from './language/handler.ts'
import { jsonOf } from './language/json-text.ts'
import type { PipelineRule } from './language/model.ts'
import {
  isWholeValue,
  parseTemplate,
  renderTemplate,
  type Template,
  type TemplateMode,
  TemplateTooLarge,
} from './language/templates.ts'
import { Answer, type Asker, AuthorError, DirectAnswer, type StepContext } from './runner.ts'
import { RUNNERS } from './runners.ts'
import { createScope } from './scope.ts'
import { masked, type StepTrace } from './trace.ts'

/** contract §9.3. */
const STEP_LIMIT_MS = 30_000
/** The time limit of all steps together: no step starts after that. */
const RUN_LIMIT_MS = 5 * MINUTE_MS

/** How a run ended. After a failure, `error` is what the visitor sees. `step` is the id of the step that ended it. */
export type RunOutcome = {
  result: { answer: Answer } | { direct: DirectAnswer; names: string[] } | { error: AppError; step: string }
  outputs: Record<string, unknown>
  /** One entry per step, with secrets masked; null unless the rule is being debugged. */
  trace: StepTrace[] | null
  /** The values of the secrets that the run has read. */
  secrets: ReadonlySet<string>
}

/** Runs the steps of a rule. Never rejects: errors are part of the outcome. */
export async function runPipeline(
  ctx: Context,
  rule: PipelineRule,
  input: PipelineInput,
  { limitMs = RUN_LIMIT_MS, asker = null }: { limitMs?: number; asker?: Asker | null } = {},
): Promise<RunOutcome> {
  const run = createRun(ctx, rule, input, emptyOutputs(), asker)
  const { steps } = compilePipeline(rule.pipelineConfig)
  const until = performance.now() + limitMs
  let last: unknown = null
  for (const step of steps) {
    if (!step.isEnabled) continue
    if (performance.now() > until) return outcomeOf(run, { error: tooLong(limitMs), step: step.id })
    const ended = runStep(run, step)
    const done = ended instanceof Promise ? await ended : ended
    if ('error' in done) return outcomeOf(run, { error: done.error, step: step.id })
    if (done.output instanceof Answer) return outcomeOf(run, { answer: done.output })
    if (done.output instanceof DirectAnswer)
      return outcomeOf(run, { direct: done.output, names: namesOf(step) })
    if (!done.wasSkipped) last = done.output
  }
  return outcomeOf(run, { answer: defaultAnswer(last) })
}

/** Runs every post step, even if earlier ones fail. Returns the failures by the id of the step. */
export async function runPostSteps(
  ctx: Context,
  rule: PipelineRule,
  input: PipelineInput,
  outputs: Record<string, unknown>,
): Promise<{ step: string; error: AppError; secrets: ReadonlySet<string> }[]> {
  const known = Object.assign(emptyOutputs(), outputs)
  const run = createRun(ctx, { ...rule, debugEnabled: false }, input, known, null)
  const failures: { step: string; error: AppError; secrets: ReadonlySet<string> }[] = []
  for (const step of compilePipeline(rule.pipelineConfig).postSteps) {
    if (!step.isEnabled) continue
    const done = await runStep(run, step)
    if ('error' in done) failures.push({ step: step.id, error: done.error, secrets: run.secrets })
  }
  return failures
}

type Run = {
  ctx: Context
  projectId: string
  input: PipelineInput
  outputs: Record<string, unknown>
  scope: Scope
  secrets: Set<string>
  trace: StepTrace[] | null
  asker: Asker | null
}

/** Under which its output is found. */
const namesOf = ({ id, name }: CompiledStep): string[] => (name === null ? [id] : [id, name])

/** No prototype, so that a step may have any name. */
const emptyOutputs = (): Record<string, unknown> => Object.create(null)

function createRun(
  ctx: Context,
  { projectId, debugEnabled }: PipelineRule,
  input: PipelineInput,
  outputs: Record<string, unknown>,
  asker: Asker | null,
): Run {
  const secrets = new Set<string>()
  const scope = createScope(ctx, { projectId, input, outputs, secrets })
  return { ctx, projectId, input, outputs, scope, secrets, trace: debugEnabled ? [] : null, asker }
}

/** Masks secrets at the end: an early step may contain a value that only a later one reveals to be a secret. */
const outcomeOf = ({ outputs, trace, secrets }: Run, result: RunOutcome['result']): RunOutcome => ({
  result,
  outputs,
  trace: trace?.map((step) => maskedStep(step, secrets)) ?? null,
  secrets,
})

const maskedStep = (step: StepTrace, secrets: ReadonlySet<string>): StepTrace => ({
  ...step,
  input: masked(step.input, secrets),
  output: masked(step.output, secrets),
  error: step.error === null ? null : String(masked(step.error, secrets)),
})

const JSON_HEADERS = [['content-type', 'application/json']] as const

const defaultAnswer = (last: unknown): Answer =>
  new Answer({ status: 200, headers: JSON_HEADERS, body: `{"success":true,"data":${jsonOf(last)}}` })

const tooLong = (limitMs: number): AppError =>
  new AppError('internal', `The pipeline took longer than ${limitMs / 1000} s`)

type StepEnd = { output: unknown; wasSkipped: boolean } | { error: AppError }

/** Stores the output under the id and the name of the step. Stays synchronous for steps that do not wait. */
function runStep(run: Run, step: CompiledStep): StepEnd | Promise<StepEnd> {
  const startedAt = run.trace === null ? 0 : performance.now()
  const finish = (end: StepEnd, input: unknown): StepEnd => {
    const output = 'error' in end ? null : end.output
    if (!('error' in end) && !endsRun(output)) {
      for (const name of namesOf(step)) run.outputs[name] = output ?? null
    }
    if (run.trace !== null) run.trace.push(traceOf(step, input, end, performance.now() - startedAt))
    return end
  }
  let config: unknown = null
  try {
    if (!holdsCondition(step.condition, run.scope)) return finish({ output: null, wasSkipped: true }, null)
    config = resolveConfig(run, step)
    const output = callHandler(run, step, config as Record<string, unknown>)
    if (!(output instanceof Promise)) return finish({ output, wasSkipped: false }, config)
    return output.then(
      (value) => finish({ output: value, wasSkipped: false }, config),
      (error) => finish({ error: stepFailure(run, step, error) }, config),
    )
  } catch (error) {
    return finish({ error: stepFailure(run, step, error) }, config)
  }
}

const endsRun = (output: unknown): boolean => output instanceof Answer || output instanceof DirectAnswer

function resolveConfig(run: Run, step: CompiledStep): unknown {
  if (step.handler === undefined)
    throw new AppError('not_implemented', `This server does not know the handler ${step.handlerType}`)
  const [problem] = step.problems
  if (problem !== undefined)
    throw new AppError('internal', 'The configuration of the step is wrong', {
      cause: new AuthorError(`${problem.path} ${problem.message}`),
    })
  return resolveValue(step.config, run.scope)
}

function callHandler(run: Run, step: CompiledStep, config: Record<string, unknown>): unknown {
  const { handler } = step
  if (handler === undefined) return null
  const context = new RunningStep(run)
  const runner = RUNNERS[handler.names[0]]
  const output = runner.run(context, config)
  return output instanceof Promise && runner.boundsOwnTime !== true
    ? withLimit(output, context.controller)
    : output
}

class RunningStep implements StepContext {
  readonly #run: Run
  #controller: AbortController | undefined

  constructor(run: Run) {
    this.#run = run
  }

  get ctx(): Context {
    return this.#run.ctx
  }

  get projectId(): string {
    return this.#run.projectId
  }

  get input(): PipelineInput {
    return this.#run.input
  }

  get outputs(): Readonly<Record<string, unknown>> {
    return this.#run.outputs
  }

  get asker(): Asker | null {
    return this.#run.asker
  }

  conceal(text: string): void {
    this.#run.secrets.add(text)
  }

  /** Created on first use: most steps never wait. */
  get controller(): AbortController {
    this.#controller ??= new AbortController()
    return this.#controller
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  render(template: BodyTemplate, mode: TemplateMode): string {
    return render(this.#run, template.text, mode)
  }
}

async function withLimit(work: Promise<unknown>, controller: AbortController): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort()
      reject(new AppError('internal', `The step took longer than ${STEP_LIMIT_MS / 1000} s`))
    }, STEP_LIMIT_MS)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

function render(run: Run, source: string, mode: TemplateMode): string {
  const template = templateFor(source, mode)
  const text = renderTemplate(template, run.scope)
  if (mode === 'json' && text.trim() !== '' && !isWholeValue(template, run.scope)) assertJson(text)
  return text
}

/** contract §9.3: a result that is neither empty nor valid JSON is an error, not a guess. */
function assertJson(text: string): void {
  try {
    JSON.parse(text)
  } catch (error) {
    throw new AppError('internal', 'The body is not valid JSON after its values were inserted', {
      cause: new AuthorError(messageOf(error)),
    })
  }
}

const templates: Record<TemplateMode, Map<string, Template>> = {
  text: new Map(),
  json: new Map(),
  html: new Map(),
}
const MAX_TEMPLATES = 2000

/** Caches parsed templates by text and mode. */
function templateFor(source: string, mode: TemplateMode): Template {
  const kept = templates[mode]
  const known = kept.get(source)
  if (known !== undefined) return known
  if (kept.size >= MAX_TEMPLATES) kept.clear()
  const template = parseTemplate(source, mode)
  kept.set(source, template)
  return template
}

/** The error as a visitor may see it. Unexpected errors are logged with their cause at the edge. */
function stepFailure(run: Run, step: CompiledStep, error: unknown): AppError {
  if (error instanceof AppError) return error
  const cause = error instanceof Error ? error : new Error(String(error))
  if (error instanceof ExpressionError)
    return new AppError('internal', 'The configuration of the step is wrong', { cause })
  if (error instanceof TemplateTooLarge)
    return new AppError('internal', 'The step produces a text that is too large', { cause })
  run.ctx.log.debug('a step failed', { step: step.id, handler: step.handlerType })
  return new AppError('internal', 'The step failed. The log of the server says why.', { cause })
}

function traceOf(step: CompiledStep, input: unknown, end: StepEnd, durationMs: number): StepTrace {
  const output = 'error' in end ? null : end.output
  return {
    id: step.id,
    handler: step.handlerType,
    durationMs: Math.round(durationMs * 100) / 100,
    skipped: !('error' in end) && end.wasSkipped,
    input,
    output: shownOutput(output),
    error: 'error' in end ? explain(end.error) : null,
  }
}

function shownOutput(output: unknown): unknown {
  if (output instanceof Answer) return { status: output.status, body: output.body }
  return output instanceof DirectAnswer ? { status: output.response.status } : output
}

/** The error text for the run log, whose readers are the authors of the rule. */
export function explain(error: AppError): string {
  const { cause } = error
  const isForThem = cause instanceof AuthorError || cause instanceof OutboundError
  return isForThem ? `${error.message} (${cause.message})` : error.message
}
