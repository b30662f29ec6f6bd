import type { Context } from '../context.ts'
import type { PipelineRequest } from './answer-pipeline.ts'

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

async function load(): Promise<Engine> {
  engine = await import('./answer-pipeline.ts')
  return engine
}
