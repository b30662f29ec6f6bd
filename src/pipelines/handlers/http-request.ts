import { AppError } from '../../domain/errors.ts'
import type { HeaderPair } from '../../domain/forward-headers.ts'
import { parseWebUrl } from '../../domain/web-url.ts'
import { OutboundError } from '../../platform/outbound/error.ts'
import { readLimited } from '../../platform/outbound/read.ts'
import { BodyTemplate } from '../language/handler.ts'
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, METHOD } from '../language/handlers/http-request.ts'
import { jsonOfConfig, plain } from '../language/json-text.ts'
import { templateModeOf, textOf } from '../language/templates.ts'
import type { Runner, StepContext } from '../runner.ts'
import { objectOf, optionalText, wholeNumber } from './config.ts'

const MAX_ANSWER_BYTES = 10 * 1024 * 1024

export const httpRequestRunner: Runner = {
  boundsOwnTime: true,
  async run(step, config) {
    const timeoutMs = Math.min(wholeNumber(config, 'timeout', DEFAULT_TIMEOUT_MS, 1), MAX_TIMEOUT_MS)
    const answer = await exchange(step, requestOf(step, config), timeoutMs)
    const isGood = answer.status >= 200 && answer.status < 300
    if (!isGood && config['failOnError'] !== false && config['failOnError'] !== 'false')
      throw new AppError('bad_gateway', `The server that the step calls answered ${answer.status}`)
    return answer
  },
}

type Call = { url: URL; method: string; headers: HeaderPair[]; body: Uint8Array | null }

function requestOf(step: StepContext, config: Readonly<Record<string, unknown>>): Call {
  const url = optionalText(config, 'url') ?? ''
  if (parseWebUrl(url) === null) throw new AppError('bad_gateway', 'The step calls an invalid URL')
  const method = optionalText(config, 'method') ?? 'GET'
  if (!METHOD.test(method)) throw new AppError('internal', 'The step calls with a method that does not exist')
  const given = Object.entries(objectOf(config, 'headers')).flatMap(([name, value]): HeaderPair[] =>
    value === null || value === undefined ? [] : [[name.toLowerCase(), textOf(value)]],
  )
  const { text, type } = bodyOf(step, config['body'], given)
  const typed: HeaderPair[] = type === null ? given : [...given, ['content-type', type]]
  const body = text === null ? null : new TextEncoder().encode(text)
  const accept: HeaderPair[] = given.some(([name]) => name === 'accept') ? [] : [['accept', '*/*']]
  return { url: new URL(url), method: method.toUpperCase(), headers: [...accept, ...typed], body }
}

/** Templates are escaped as the `content-type` requires. `type` is null if the caller has set one. */
function bodyOf(
  step: StepContext,
  body: unknown,
  headers: readonly HeaderPair[],
): { text: string | null; type: string | null } {
  const given = headers.find(([name]) => name === 'content-type')?.[1]
  if (body === undefined || body === null) return { text: null, type: null }
  const type = given === undefined ? 'text/plain; charset=utf-8' : null
  if (body instanceof BodyTemplate)
    return { text: step.render(body, templateModeOf(given ?? 'text/plain')), type }
  if (typeof plain(body) === 'object')
    return { text: jsonOfConfig(body), type: given === undefined ? 'application/json' : null }
  return { text: textOf(body), type }
}

async function exchange(step: StepContext, call: Call, timeoutMs: number) {
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    const response = await step.ctx.outbound.request(call.url, {
      method: call.method,
      headers: call.headers,
      body: call.body,
      headTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      signal: AbortSignal.any([limit, step.signal]),
    })
    const bytes = await readLimited(response, MAX_ANSWER_BYTES)
    return {
      status: response.status,
      headers: headersOf(response.headers),
      body: readAnswer(response.headers, bytes),
    }
  } catch (error) {
    // Both timers have the same limit, and either may fire first.
    const isLate = error instanceof OutboundError && (error.kind === 'timeout' || error.kind === 'stalled')
    if (limit.aborted || isLate)
      throw new AppError(
        'bad_gateway',
        `The server that the step calls did not answer within ${timeoutMs} ms`,
      )
    if (error instanceof OutboundError) throw new AppError('bad_gateway', inWords(error), { cause: error })
    throw error
  }
}

/** What a visitor may know: nothing of the network around the server. */
function inWords({ kind, message }: OutboundError): string {
  switch (kind) {
    case 'bad_request':
      return message
    case 'too_large':
      return `The server that the step calls answered more than ${MAX_ANSWER_BYTES} bytes (10 MiB)`
    case 'broken':
      return 'The server that the step calls sent an answer that cannot be read'
    case 'reset':
      return 'The server that the step calls ended the connection before its answer was complete'
    case 'overloaded':
      return 'Too many requests to the server that the step calls are in progress'
    default:
      return 'The server that the step calls could not be reached'
  }
}

function headersOf(pairs: readonly HeaderPair[]): Record<string, string> {
  const headers = new Map<string, string>()
  for (const [name, value] of pairs) {
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known}, ${value}`)
  }
  return Object.fromEntries(headers)
}

/** Parses a body declared as JSON; one that is not valid JSON stays a text. */
function readAnswer(headers: readonly HeaderPair[], bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null
  const text = new TextDecoder().decode(bytes)
  const type = headers.find(([name]) => name === 'content-type')?.[1] ?? ''
  if (templateModeOf(type) !== 'json') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
