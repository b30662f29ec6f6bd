import type { Caller, Context } from '../context.ts'
import type { PipelineRule } from '../pipelines/model.ts'
import type { PipelineRequest, PipelineSite } from './answer-pipeline.ts'

type Engine = typeof import('./answer-pipeline.ts')
let engine: Engine | undefined

/**
 * Answers a request with the pipeline of a rule. Never rejects. The engine is loaded with the first of them: a server
 * that has only files starts and stays without it.
 */
export function servePipeline(
  ctx: Context,
  site: PipelineSite,
  rule: PipelineRule,
  asked: PipelineRequest,
  caller: Caller,
): Promise<Response> {
  if (engine !== undefined) return engine.answerPipeline(ctx, site, rule, asked, caller)
  return load().then(({ answerPipeline }) => answerPipeline(ctx, site, rule, asked, caller))
}

async function load(): Promise<Engine> {
  engine = await import('./answer-pipeline.ts')
  return engine
}
