import type { Context } from '../context.ts'
import type { AppError } from '../domain/errors.ts'
import type { PipelineInput } from './input.ts'
import type { BodyTemplate } from './language/handler.ts'
import type { TemplateMode } from './language/templates.ts'

/** What a step knows of whoever waits for the answer of its run. */
export type Asker = {
  /** Scheme and host that they asked, with what stands there before the paths of the site. */
  origin: string
  /** Aborted when they leave. */
  signal: AbortSignal
  /** Throws 403 if a page of another origin asks. */
  refuseForeign(): void
  /** Allows the connection to be silent while an answer lasts. */
  allowSilence(isAllowed: boolean): void
  /** Answers as the site answers them; null where they ask through a tool already. */
  askSite: ((call: SiteCall) => Promise<SiteAnswer>) | null
}

/** A call of a rule of the same site. `args`: the JSON body, or the query of a GET. */
export type SiteCall = { method: 'GET' | 'POST'; path: string; args: Readonly<Record<string, unknown>> }

/** `unanswered`: no rule answers it that may, and why. */
export type SiteAnswer = { response: Response } | { unanswered: string }

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
  /** Null in post steps, and where nobody waits. */
  asker: Asker | null
  /** Keeps a text out of the run log, as secrets are. */
  conceal(text: string): void
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

/** A stream that answers ends in one of these ways. */
export type StreamEnd = {
  /** With the output of its step. Queues the post steps, which are durable when it resolves: the stream waits for that. */
  whole(output: unknown): Promise<void>
  /** Amid the answer. */
  broke(error: AppError): void
  /** Nobody reads it any more. */
  left(): void
}

/** Ends the run with a response that the step makes itself: a file, or a stream. */
export class DirectAnswer {
  readonly response: Response
  /** Skips the post steps. */
  readonly isFinal: boolean
  /** For a stream, which says how it ended. Without it the run ends, and post steps are queued, at once. */
  readonly onEnd: ((end: StreamEnd) => void) | null

  constructor(response: Response, then: { isFinal?: boolean; onEnd?: DirectAnswer['onEnd'] } = {}) {
    this.response = response
    this.isFinal = then.isFinal ?? false
    this.onEnd = then.onEnd ?? null
  }
}

/** How the steps of a handler run. */
export type Runner = {
  /** It limits its own time. Every other step is limited to 30 s. */
  boundsOwnTime?: true
  run(step: StepContext, config: Readonly<Record<string, unknown>>): unknown
}
