import type { Caller, Context } from '../context.ts'
import type { PipelineRequest } from './pipeline-request.ts'
import type { Trace } from './trace.ts'

type Engine = typeof import('./answer-pipeline.ts')
let engine: Engine | undefined

/**
 * Answers a request with a rule's pipeline. Never rejects. The engine is loaded on first use, so a server that has only
 * files does without it.
 */
export function servePipeline(ctx: Context, asked: PipelineRequest): Promise<Response> {
  if (engine !== undefined) return engine.answerPipeline(ctx, asked)
  return load().then(({ answerPipeline }) => answerPipeline(ctx, asked))
}

/** Only reports whether the caller may run it; runs and counts nothing. */
export async function explainPipeline(
  ctx: Context,
  rule: PipelineRequest['rule'],
  caller: Caller,
  trace: Trace,
): Promise<Response> {
  const { refusalOf } = engine ?? (await load())
  const refusal = refusalOf(ctx, rule, caller)
  if (refusal === null) trace.add('pipeline', 'The rule’s pipeline runs')
  else {
    const { status, message } = refusal
    const text = `The rule’s pipeline rejects the visitor before its first step: ${status}, ${message}`
    trace.add('pipeline', text, { status })
  }
  return new Response(null)
}

async function load(): Promise<Engine> {
  engine = await import('./answer-pipeline.ts')
  return engine
}
