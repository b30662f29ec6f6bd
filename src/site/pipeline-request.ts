import type { Caller } from '../context.ts'
import type { RunTrigger } from '../domain/run-trigger.ts'
import type { Arrival } from '../http/arrival.ts'
import type { PipelineRule } from '../pipelines/language/model.ts'
import type { ReadBody } from '../pipelines/read-body.ts'
import type { Asker } from '../pipelines/runner.ts'
import type { Site } from './site.ts'

/** A request that a rule passes to its pipeline, with the facts about the site that the pipeline needs. */
export type PipelineRequest = {
  arrival: Arrival
  site: Pick<Site, 'project' | 'commitSha' | 'rules'> & { alias: { name: string } | null }
  rule: PipelineRule
  caller: Caller
  /** For steps that call other rules of the site. */
  askSite?: Asker['askSite']
  /** The body, where none has to be read. */
  body?: ReadBody
  /** A visitor's request unless it says otherwise. */
  trigger?: RunTrigger
}
