import type { Caller, Context } from '../context.ts'
import type { PipelineRequest } from './answer-pipeline.ts'
import type { Trace } from './trace.ts'

type Engine = typeof import('./answer-pipeline.ts')
let engine: Engine | undefined

/**
 * Answers a request with the pipeline of a rule. Never rejects. The engine is loaded with the first of them: a server
 * that has only files starts and stays without it.
 */
export function servePipeline(ctx: Context, asked: PipelineRequest): Promise<Response> {
  if (engine !== undefined) return engine.answerPipeline(ctx, asked)
  return load().then(({ answerPipeline }) => answerPipeline(ctx, asked))
}

/** Who may is told, and nothing runs or is counted. */
export async function explainPipeline(
  ctx: Context,
  rule: PipelineRequest['rule'],
  caller: Caller,
  trace: Trace,
): Promise<Response> {
  const { refusalOf } = engine ?? (await load())
  const refusal = refusalOf(ctx, rule, caller)
  if (refusal === null) trace.add('pipeline', 'The pipeline of the rule runs')
  else {
    const { status, message } = refusal
    const text = `The pipeline of the rule refuses the visitor before its first step: ${status}, ${message}`
    trace.add('pipeline', text, { status })
  }
  return new Response(null)
}

async function load(): Promise<Engine> {
  engine = await import('./answer-pipeline.ts')
  return engine
}
