import type { TSchema } from 'typebox'
import type { Context } from '../context.ts'
import type { ErrorDetail } from '../domain/errors.ts'
import type { PipelineInput } from './input.ts'
import type { TemplateMode } from './templates.ts'

/** All that a handler knows of the run it is part of. */
export type StepContext = {
  ctx: Context
  /** Schemas, records, secrets and tokens are of this project and no other. */
  projectId: string
  input: PipelineInput
  /** Outputs so far, by id and by name. */
  outputs: Readonly<Record<string, unknown>>
  /** Renders a template against what the run knows. Throws 500 where `json` comes out neither empty nor JSON. */
  render(template: string, mode: TemplateMode): string
  /** Aborted when the step's time is over. */
  signal: AbortSignal
}

/** A cause that the author of the rule may read in the run log, as opposed to one for the server's own log. */
export class AuthorError extends Error {}

/** What a step gives back to end the run: the answer of the pipeline. */
export class Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | null
  /** The post steps are left out: nothing happened. */
  readonly isFinal: boolean

  constructor(parts: {
    status: number
    headers: readonly (readonly [string, string])[]
    body: string | null
    isFinal?: boolean
  }) {
    this.status = parts.status
    this.headers = parts.headers
    this.body = parts.body
    this.isFinal = parts.isFinal ?? false
  }
}

/** One kind of step. Its documentation is made of this too: a word here is a word in the manual. */
export type Handler = {
  /** As rules name it; the first is the usual name. */
  names: readonly [string, ...string[]]
  summary: string
  /** What its output is. */
  result: string
  /** What `config` may hold, each key with its description; the condition of a step is not part of it. */
  config: TSchema
  /** Texts that are neither template nor expression: `path` leads to one from `config`. */
  isLiteral?: (path: readonly string[], text: string) => boolean
  /** What the schema cannot say. */
  check?: (config: Readonly<Record<string, unknown>>) => ErrorDetail[]
  /** How long a step may take; null for a handler that sees to it itself. 30 s where nothing is said. */
  limitMs?: null
  run(step: StepContext, config: Readonly<Record<string, unknown>>): unknown
}
