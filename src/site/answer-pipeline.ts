import type { Caller, Context } from '../context.ts'
import { currentGeneration } from '../db/generation.ts'
import { storeRefusal } from '../db/shipped.ts'
import { AppError } from '../domain/errors.ts'
import { requestHeadersToShow } from '../domain/forward-headers.ts'
import { isSafe } from '../domain/safe-methods.ts'
import { asOfNow } from '../modules/auth/caller.ts'
import { formPairs } from '../pipelines/form-pairs.ts'
import type { PipelineInput, PipelineUser } from '../pipelines/input.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import { paramsOf } from '../pipelines/path-params.ts'
import { grouped, type ReadBody, readPipelineBody } from '../pipelines/read-body.ts'
import { formFileOf } from '../pipelines/uploaded-file.ts'
import { addressOf, checkAuthAgain, checkValidators } from '../pipelines/validators.ts'
import { askerOf, withDescription } from './asker.ts'
import { pipelineProject } from './pipeline-project.ts'
import type { PipelineRequest } from './pipeline-request.ts'
import { runRule } from './run-rule.ts'
import { serveStoredFile } from './serve-stored-file.ts'

/** Answers a request with a pipeline: access check, then the body, then the steps. contract §9.3. Never rejects. */
export async function answerPipeline(ctx: Context, asked: PipelineRequest): Promise<Response> {
  const { arrival, rule, trigger = 'request' } = asked
  const { method, path, request, peer } = arrival
  const kept: Kept = {}
  const begin = () => begun(ctx, asked, kept)
  try {
    const asker = askerOf(ctx, asked)
    const run = { rule, method, path, url: request.url, trigger, scheduleId: null, begin, asker }
    return (await runRule(ctx, run)).response
  } finally {
    peer.allowSilence?.(false)
    await kept.file?.discard()
  }
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

/** The file of a form, until a step takes it or the run ends. */
type Kept = { file?: ReadBody['file'] }

async function begun(ctx: Context, asked: PipelineRequest, kept: Kept): Promise<PipelineInput> {
  try {
    return await admitted(ctx, asked, kept)
  } catch (error) {
    throw withDescription(ctx, asked, error)
  }
}

async function admitted(ctx: Context, asked: PipelineRequest, kept: Kept): Promise<PipelineInput> {
  const { rule, caller, arrival } = asked
  checkValidators(ctx, rule, caller)
  refuseWhileAway(ctx, arrival.request)
  const { access } = currentGeneration(ctx.db)
  const read = asked.body ?? (await readPipelineBody(ctx, arrival.request, () => formFileOf(ctx, rule)))
  kept.file = read.file
  // Reading the body may take a while. If access rights changed meanwhile, decide again and run with the sender's
  // current role.
  const sender = access === currentGeneration(ctx.db).access ? caller : asOfNow(ctx, caller)
  if (sender !== caller) checkAuthAgain(ctx, rule, sender)
  // The body has arrived, so the connection is silent until the steps finish. They have timeouts of their own.
  arrival.peer.allowSilence?.(true)
  return inputOf(ctx, asked, sender, read)
}

/** What may write is not begun while nothing can be written. contract 18 §4. */
function refuseWhileAway(ctx: Context, { method }: Request): void {
  const refusal = isSafe(method) ? null : storeRefusal(ctx)
  if (refusal !== null) throw refusal
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
    project: pipelineProject(ctx, site.project.id),
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
