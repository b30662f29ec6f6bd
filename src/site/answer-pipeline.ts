import type { Caller, Context } from '../context.ts'
import { currentGeneration, generationCache } from '../db/generation.ts'
import { storeRefusal } from '../db/shipped.ts'
import { AppError } from '../domain/errors.ts'
import { requestHeadersToShow } from '../domain/forward-headers.ts'
import { isSafe } from '../domain/safe-methods.ts'
import type { Arrival } from '../http/arrival.ts'
import { toAppError } from '../http/error-response.ts'
import { asOfNow } from '../modules/auth/caller.ts'
import { findProjectById } from '../modules/projects/service.ts'
import { recordRun } from '../modules/runs/service.ts'
import { formPairs } from '../pipelines/form-pairs.ts'
import type { PipelineInput, PipelineUser } from '../pipelines/input.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import { namesSecret } from '../pipelines/language/references.ts'
import { paramsOf } from '../pipelines/path-params.ts'
import { hasPostSteps, queuePostSteps } from '../pipelines/post-steps.ts'
import { grouped, type ReadBody, readPipelineBody } from '../pipelines/read-body.ts'
import { explain, type RunOutcome, runPipeline } from '../pipelines/run.ts'
import type { Answer } from '../pipelines/runner.ts'
import { masked } from '../pipelines/trace.ts'
import { formFileOf } from '../pipelines/uploaded-file.ts'
import { addressOf, checkAuthAgain, checkValidators } from '../pipelines/validators.ts'
import { serveStoredFile } from './serve-stored-file.ts'
import type { Site } from './site.ts'

/** A request that a rule passes to its pipeline, with the facts about the site that the pipeline needs. */
export type PipelineRequest = {
  arrival: Arrival
  site: Pick<Site, 'project' | 'commitSha'> & { alias: { name: string } | null }
  rule: PipelineRule
  caller: Caller
}

/** Answers a request with a pipeline: access check, then the body, then the steps. contract §9.3. Never rejects. */
export async function answerPipeline(ctx: Context, asked: PipelineRequest): Promise<Response> {
  const { arrival, rule } = asked
  const startedAt = performance.now()
  const at = ctx.now()
  const ended = await run(ctx, asked)
  recordRun(ctx, {
    projectId: rule.projectId,
    ruleId: rule.id,
    ruleName: rule.pipelineConfig.name ?? null,
    phase: 'steps',
    pathPattern: rule.pathPattern,
    method: arrival.method,
    path: arrival.path,
    status: ended.response.status,
    durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
    failedStep: ended.failedStep,
    error: ended.error,
    steps: ended.steps,
    namesSecret: ended.steps !== null && namesSecret(rule.pipelineConfig),
    startedAt: at,
  })
  return ended.response
}

/** The error for a caller who may not use the pipeline; null if they may. Does not check rate limits. */
export function refusalOf(ctx: Context, rule: PipelineRule, caller: Caller): AppError | null {
  try {
    checkAuthAgain(ctx, rule, caller)
    return null
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

type Ended = { response: Response; failedStep: string | null; error: string | null; steps: string | null }

async function run(ctx: Context, asked: PipelineRequest): Promise<Ended> {
  const { rule, caller, arrival } = asked
  const { peer } = arrival
  let outcome: RunOutcome | undefined
  let read: ReadBody | undefined
  try {
    checkValidators(ctx, rule, caller)
    refuseWhileAway(ctx, arrival.request)
    const { access } = currentGeneration(ctx.db)
    read = await readPipelineBody(ctx, arrival.request, () => formFileOf(ctx, rule))
    // Reading the body may take a while. If access rights changed meanwhile, decide again and run with the sender's
    // current role.
    const sender = access === currentGeneration(ctx.db).access ? caller : asOfNow(ctx, caller)
    if (sender !== caller) checkAuthAgain(ctx, rule, sender)
    const input = inputOf(ctx, asked, sender, read)
    // The body has arrived, so the connection is silent until the steps finish. They have timeouts of their own.
    peer.allowSilence?.(true)
    outcome = await runPipeline(ctx, rule, input)
    const { result } = outcome
    if ('error' in result) return failed(ctx, asked, result, outcome)
    const response = 'direct' in result ? result.direct.response : toResponse(result.answer)
    if (hasPostSteps(rule)) await goOn(ctx, { rule, input }, outcome)
    return { response, failedStep: null, error: null, steps: traceOf(outcome) }
  } catch (error) {
    return failed(ctx, asked, { error, step: null }, outcome)
  } finally {
    peer.allowSilence?.(false)
    if (read?.file !== undefined) await read.file.discard()
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
  if (!('direct' in result) || result.direct.onEnd === null) return queue(outputs)
  const { step } = result
  result.direct.onEnd((output) => queue(Object.assign(Object.create(null), outputs, { [step]: output })))
}

/** What may write is not begun while nothing can be written. contract 18 §4. */
function refuseWhileAway(ctx: Context, { method }: Request): void {
  const refusal = isSafe(method) ? null : storeRefusal(ctx)
  if (refusal !== null) throw refusal
}

function failed(
  ctx: Context,
  { arrival }: PipelineRequest,
  { error, step }: { error: unknown; step: string | null },
  outcome: RunOutcome | undefined,
): Ended {
  const failure = toAppError(ctx, error, arrival.request)
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

function inputOf(
  ctx: Context,
  { site, rule, arrival }: PipelineRequest,
  caller: Caller,
  read: ReadBody,
): PipelineInput {
  const { request, path, search, isBehindProxy } = arrival
  let headers: Record<string, string> | undefined
  return {
    method: request.method,
    path,
    ...queryOf(search),
    params: paramsOf(rule.pathPattern, path),
    /** Lazy: few pipelines use the headers, and reading all of them costs more than a step. */
    get headers() {
      headers ??= Object.fromEntries(requestHeadersToShow(request.headers, isBehindProxy))
      return headers
    },
    arrival,
    serveFile: serveStoredFile,
    ip: addressOf(caller),
    userAgent: request.headers.get('user-agent'),
    ...read,
    user: userOf(caller),
    project: projectOf(ctx, site),
    deployment: {
      owner: site.project.owner,
      repo: site.project.name,
      commitSha: site.commitSha,
      alias: site.alias?.name ?? null,
    },
  }
}

/** A query is a form like others, but what is no text in its encoding does not keep a pipeline from running. */
function queryOf(search: string): Pick<PipelineInput, 'query' | 'queryError'> {
  if (search === '') return { query: {} }
  try {
    return { query: grouped(formPairs(Buffer.from(search.slice(1)), null)) }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { query: grouped(new URLSearchParams(search)), queryError: error }
  }
}

function userOf({ actor }: Caller): PipelineUser | null {
  if (!('user' in actor)) return null
  const { id, email, role } = actor.user
  // On the command line nobody acts with what they are in the workspace.
  return { id, email, role: actor.kind === 'cli' ? 'member' : role }
}

const projects = generationCache<Record<string, unknown>>('sites')

function projectOf(
  ctx: Context,
  { project: { id: projectId } }: PipelineRequest['site'],
): Record<string, unknown> {
  const project = projects.get(ctx.db, projectId, () => {
    const found = findProjectById(ctx, projectId)
    if (found === undefined) return undefined
    const { id, owner, name, displayName, isPublic } = found
    return { id, owner, name, displayName, isPublic }
  })
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  return project
}
