import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { parseWebUrl } from '../../../domain/web-url.ts'
import type { Handler } from '../handler.ts'
import { hasTags } from '../templates.ts'
import { expression, numberOr, numberUpTo } from './config.ts'
import { checkWholeNumber, constantOf } from './words.ts'

type Config = Readonly<Record<string, unknown>>

/** Who is asked, with the secret that has the key where the rule names none. */
export const PROVIDER_SECRETS = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_API_KEY',
} as const
export type ProviderName = keyof typeof PROVIDER_SECRETS

export const DEFAULT_MAX_TOKENS = 4096
export const LARGEST_MAX_TOKENS = 100_000
export const DEFAULT_MODEL_TIMEOUT_MS = 60_000
export const SHORTEST_MODEL_TIMEOUT_MS = 1000
export const LONGEST_MODEL_TIMEOUT_MS = 300_000
export const DEFAULT_HISTORY = 50

const oneOf = <T extends string>(description: string, ...words: T[]) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  )

export const aiHandler: Handler<'ai_handler'> = {
  names: ['ai_handler'],
  summary:
    'Asks a language model, over HTTPS and under the same rules as a proxy. A stream ends the steps and is the response, in the form that the AI SDK reads (UI message stream); post steps still get the output. A project has `AI_DAILY_TOKENS` in a day (UTC) and at most 8 questions at once.',
  result:
    '`{ content, role: "assistant", tokensUsed, usage: { inputTokens, outputTokens, totalTokens }, latencyMs, finishReason }`; `finishReason` is one of stop, length, content-filter, other.',
  config: Type.Object(
    {
      provider: oneOf('openai, anthropic or google', 'openai', 'anthropic', 'google'),
      model: expression('the model, as the provider calls it'),
      mode: Type.Optional(
        oneOf(
          '`completion` (the default) asks one question, `chat` goes on with a list',
          'completion',
          'chat',
        ),
      ),
      responseMode: Type.Optional(
        oneOf('`message` or `stream`; default `stream` in a chat, else `message`', 'message', 'stream'),
      ),
      systemPrompt: Type.Optional(expression('what the model is told first')),
      messageField: Type.Optional(
        expression('the question: a field of the body, or an expression with a dot; default `message`'),
      ),
      messagesField: Type.Optional(
        expression(
          'the same for the list of a chat, of `{ role, content }` or `{ role, parts: [{ type: "text", text }] }`; default `messages`',
        ),
      ),
      maxHistoryMessages: Type.Optional(
        numberOr(`how many of the list are sent, the last ones: default ${DEFAULT_HISTORY}`),
      ),
      maxTokens: Type.Optional(
        numberUpTo(LARGEST_MAX_TOKENS, `the longest answer, in tokens: default ${DEFAULT_MAX_TOKENS}`),
      ),
      temperature: Type.Optional(numberUpTo(2, 'how freely it answers, from 0')),
      timeout: Type.Optional(
        numberUpTo(
          LONGEST_MODEL_TIMEOUT_MS,
          `milliseconds for the whole answer: default ${DEFAULT_MODEL_TIMEOUT_MS}, at least ${SHORTEST_MODEL_TIMEOUT_MS}`,
        ),
      ),
      baseUrl: Type.Optional(expression('another server that speaks as the provider does: an https address')),
      apiKey: Type.Optional(
        expression(
          'an expression; default `secrets.OPENAI_API_KEY`, `secrets.ANTHROPIC_API_KEY` or `secrets.GOOGLE_API_KEY`',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: ([key]) => key !== undefined && LITERAL.has(key),
  prepare,
  foresee: (config) => [
    ...checkBaseUrl(config['baseUrl']),
    ...checkWholeNumber(config, 'maxTokens', 1, LARGEST_MAX_TOKENS),
    ...checkWholeNumber(config, 'maxHistoryMessages', 1, Number.MAX_SAFE_INTEGER),
    ...checkWholeNumber(config, 'timeout', SHORTEST_MODEL_TIMEOUT_MS, LONGEST_MODEL_TIMEOUT_MS),
    ...checkTemperature(config['temperature']),
  ],
}

const LITERAL: ReadonlySet<string> = new Set(['provider', 'mode', 'responseMode', 'secretName'])

/** Fields of the body become expressions, and the key gets its default; `secretName` is the secret that has it. */
function prepare(config: Config): Config {
  const { provider, messageField = 'message', messagesField = 'messages' } = config
  const usual = Object.hasOwn(PROVIDER_SECRETS, String(provider))
    ? `secrets.${PROVIDER_SECRETS[provider as ProviderName]}`
    : null
  const apiKey = config['apiKey'] ?? usual
  const [, dotted, quoted] = /^\s*secrets(?:\.(\w+)|\[['"]([^'"]+)['"]\])\s*$/.exec(String(apiKey)) ?? []
  return {
    ...config,
    messageField: ofBody(messageField),
    messagesField: ofBody(messagesField),
    apiKey,
    secretName: dotted ?? quoted ?? null,
  }
}

const ofBody = (field: unknown): unknown =>
  typeof field !== 'string' || field.includes('.') || hasTags(field)
    ? field
    : `request.body['${field.trim().replaceAll('\\', '\\\\').replaceAll("'", "\\'")}']`

function checkBaseUrl(given: unknown): ErrorDetail[] {
  const url = constantOf(given)
  if (typeof url !== 'string' || parseWebUrl(url)?.protocol === 'https:') return []
  return [{ path: 'baseUrl', message: 'must be an https address, such as https://models.example.com/v1' }]
}

function checkTemperature(given: unknown): ErrorDetail[] {
  const value = constantOf(given)
  if (value === undefined || value === null) return []
  const isGood = typeof value === 'number' && value >= 0 && value <= 2
  return isGood ? [] : [{ path: 'temperature', message: 'must be a number from 0 to 2' }]
}
