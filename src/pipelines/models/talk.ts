import { AppError } from '../../domain/errors.ts'
import { isHeaderValue } from '../../domain/names.ts'
import { parseWebUrl } from '../../domain/web-url.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { optionalText, wholeNumber } from '../handlers/config.ts'
import {
  DEFAULT_MODEL_TIMEOUT_MS,
  LONGEST_MODEL_TIMEOUT_MS,
  type ProviderName,
  SHORTEST_MODEL_TIMEOUT_MS,
} from '../language/handlers/ai.ts'
import { AuthorError, type StepContext } from '../runner.ts'
import { masked } from '../trace.ts'
import { anthropic } from './anthropic.ts'
import { refuseSpent, spend, takeTurn } from './budget.ts'
import { UnreadableEvents } from './event-data.ts'
import { google } from './google.ts'
import { openai } from './openai.ts'
import type { Provider, Question } from './provider.ts'
import { questionOf } from './question.ts'
import { Tally } from './tally.ts'

type Config = Readonly<Record<string, unknown>>

const PROVIDERS: Readonly<Record<ProviderName, Provider>> = { openai, anthropic, google }

/** What is wrong with an answer. Its words are for everybody; those of the provider are for the author of the rule. */
const LATE = 'The provider of the model took too long'
const CUT_OFF = 'The provider of the model ended its answer too early'
const UNREADABLE = 'The provider of the model sent an answer that cannot be read'
const UNREACHED = 'The provider of the model could not be reached'

/** One question to a model, from the check of the budget to the count of its tokens. */
export class Talk {
  readonly step: StepContext
  readonly provider: Provider
  readonly question: Question
  readonly key: string
  readonly base: URL
  readonly timeoutMs: number
  readonly tally: Tally
  readonly signal: AbortSignal
  readonly #startedAt = performance.now()
  readonly #stop = new AbortController()
  readonly #release: () => void
  readonly #timer: Timer
  #isLate = false
  #isHeard = false

  /** Throws if there is no question, no key, nothing left of the budget or no turn. */
  constructor(step: StepContext, config: Config) {
    this.step = step
    this.provider = PROVIDERS[config['provider'] as ProviderName]
    this.question = questionOf(config)
    this.key = keyOf(config)
    step.conceal(this.key)
    this.base = baseOf(step, config, this.provider)
    const { ctx, projectId, asker } = step
    this.timeoutMs = timeoutOf(config)
    this.tally = new Tally(this.question)
    refuseSpent(ctx, projectId)
    this.#release = takeTurn(ctx, projectId)
    this.#timer = setTimeout(() => {
      this.#isLate = true
      this.end()
    }, this.timeoutMs)
    this.signal = asker === null ? this.#stop.signal : AbortSignal.any([asker.signal, this.#stop.signal])
  }

  get latencyMs(): number {
    return performance.now() - this.#startedAt
  }

  /** From now on what was said counts. */
  heard(): void {
    this.#isHeard = true
  }

  /** Ends the request, if it is not over, and gives up the turn. */
  end(): void {
    clearTimeout(this.#timer)
    this.#release()
    this.#stop.abort()
  }

  async count(): Promise<void> {
    if (this.#isHeard) await spend(this.step.ctx, this.step.projectId, this.tally.tokens)
  }

  /** The failure as a visitor may see it. */
  failureOf(error: unknown): AppError {
    if (error instanceof AppError) return error
    if (this.#isLate) return failure(LATE, `there was no whole answer within ${this.timeoutMs} ms`)
    if (this.signal.aborted) return new AppError('timed_out', 'The visitor left before the answer was there')
    if (error instanceof OutboundError) return ofOutbound(error)
    if (error instanceof SyntaxError || error instanceof UnreadableEvents)
      return this.unreadable(error.message)
    return new AppError('bad_gateway', UNREADABLE, { code: 'AI_PROVIDER_ERROR', cause: error })
  }

  unreadable = (why: string): AppError => this.#told(UNREADABLE, why)
  cutOff = (): AppError => failure(CUT_OFF, 'the answer had no end')
  reported = (problem: string): AppError =>
    this.#told('The provider of the model reported a failure', problem)
  refused = (status: number, problem: string): AppError =>
    this.#told(`The provider of the model answered ${status}`, problem)

  /** A provider may repeat the key in what it says. */
  #told(message: string, why: string): AppError {
    return failure(message, String(masked(why, new Set([this.key]))).slice(0, 500))
  }
}

const failure = (message: string, forAuthors: string): AppError =>
  new AppError('bad_gateway', message, {
    code: 'AI_PROVIDER_ERROR',
    cause: new AuthorError(forAuthors === '' ? 'it does not say why' : forAuthors),
  })

function ofOutbound(error: OutboundError): AppError {
  const { kind } = error
  if (kind === 'timeout' || kind === 'stalled') return failure(LATE, error.message)
  if (kind === 'reset') return failure(CUT_OFF, error.message)
  if (kind === 'broken' || kind === 'too_large') return failure(UNREADABLE, error.message)
  return failure(UNREACHED, error.message)
}

function keyOf(config: Config): string {
  const key = optionalText(config, 'apiKey')?.trim() ?? ''
  if (key !== '' && isHeaderValue(key)) return key
  const name = optionalText(config, 'secretName')
  const what = name === null ? 'The step has no apiKey' : `The project has no secret ${name} with a key`
  throw new AppError('internal', `${what} for the provider ${config['provider']}`, {
    code: 'AI_NOT_CONFIGURED',
  })
}

function baseOf({ ctx }: StepContext, config: Config, { setting, usualBase }: Provider): URL {
  const text = optionalText(config, 'baseUrl') ?? ctx.config[setting] ?? usualBase
  const url = parseWebUrl(text.trim().replace(/\/+$/, ''))
  if (url?.protocol === 'https:' && url.search === '') return url
  throw new AppError('internal', 'The step names a server of models that is no https address', {
    cause: new AuthorError('baseUrl must be an https address without a query'),
  })
}

function timeoutOf(config: Config): number {
  const given = wholeNumber(config, 'timeout', DEFAULT_MODEL_TIMEOUT_MS, 1)
  return Math.min(Math.max(given, SHORTEST_MODEL_TIMEOUT_MS), LONGEST_MODEL_TIMEOUT_MS)
}
