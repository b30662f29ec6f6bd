import type { TSchema } from 'typebox'
import type { Context } from '../context.ts'
import type { ErrorDetail } from '../domain/errors.ts'
import type { PipelineInput } from './input.ts'
import type { TemplateMode } from './language/templates.ts'

/**
 * A text of the configuration that its handler renders, once it knows how to escape. Only such a text is ever a template:
 * one that an expression found may hold tags of a visitor.
 */
export class BodyTemplate {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a handler knows of its run. */
export type StepContext = {
  ctx: Context
  /** The project that owns all schemas, records, secrets and tokens of the step. */
  projectId: string
  input: PipelineInput
  /** Outputs of the earlier steps, by id and by name. */
  outputs: Readonly<Record<string, unknown>>
  /**
   * Renders a template with the values of the run. Throws 500 if the result of `json` is neither empty nor valid JSON.
   */
  render(template: BodyTemplate, mode: TemplateMode): string
  /** Aborted when the time limit of the step is over. */
  signal: AbortSignal
}

/** A cause that the author of the rule may read in the run log, unlike one for the server's own log. */
export class AuthorError extends Error {}

/** Returned by a step to end the run: the response of the pipeline. */
export class Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | null
  /** Skips the post steps, because nothing happened. */
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

/** One kind of step. The manual is generated from this, so every text here appears in it. */
export type Handler = {
  /** The names in rules; the first is the preferred one. */
  names: readonly [string, ...string[]]
  summary: string
  /** Describes the output. */
  result: string
  /** The keys of `config` with their descriptions, except the condition, which every step may have. */
  config: TSchema
  /**
   * Whether a text is neither template nor expression. `path` leads to it from `config`. Such a text at `body` arrives as
   * a `BodyTemplate`.
   */
  isLiteral?: (path: readonly string[], text: string) => boolean
  /** Checks what the schema cannot express. The configuration may violate the schema. */
  check?: (config: Readonly<Record<string, unknown>>) => ErrorDetail[]
  /** Finds what is written out and makes every run fail, such as code that is no JavaScript. As for `check`. */
  foresee?: (config: Readonly<Record<string, unknown>>) => ErrorDetail[]
  /** The handler limits its own time. Every other step is limited to 30 s. */
  boundsOwnTime?: true
  run(step: StepContext, config: Readonly<Record<string, unknown>>): unknown
}
