import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { ExpressionError } from '../expressions.ts'
import type { Handler } from '../handler.ts'
import { hasTags, parseTemplate, templateModeOf } from '../templates.ts'
import { expression, numberOr, valuesByName } from './config.ts'
import { checkHeaders } from './headers.ts'
import { checkWholeNumber, constantOf } from './words.ts'

export const WITHOUT_BODY = new Set([204, 205, 304])

export const responseHandler: Handler<'response_handler'> = {
  names: ['response_handler'],
  summary: 'Sends the response and ends the steps.',
  result: 'none: it is the response.',
  config: Type.Object(
    {
      body: Type.Optional(
        Type.Unknown({
          description:
            'a template, or an object of expressions. `{{x}}` inserts text, escaped for the `contentType`; `{{{x}}}` inserts the JSON of an object or a list',
        }),
      ),
      status: Type.Optional(numberOr('default 200')),
      contentType: Type.Optional(
        expression('default `application/json`; for a page `text/html`. A text is sent as UTF-8'),
      ),
      headers: Type.Optional(
        valuesByName(
          'additional headers; a `location` is percent-encoded where it holds what no address may',
        ),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: ([key, ...deeper]) => key === 'body' && deeper.length === 0,
  check: checkBody,
  foresee: (config) => [
    ...checkWholeNumber(config, 'status', 200, 599),
    ...checkJson(config),
    ...checkHeaders(config['headers']),
  ],
}

/** Checks `config.body` as written. It is parsed when the step runs, because only then the content type is known. */
function checkBody(config: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const { body, contentType = 'application/json' } = config as { body?: unknown; contentType?: unknown }
  if (typeof body !== 'string') return []
  try {
    parseTemplate(body, templateModeOf(String(contentType)))
    return []
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return [{ path: 'body', message: error.message }]
  }
}

/** A body without tags is the same in every response, and not part of those with some statuses. */
function checkJson(config: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const { body } = config
  if (typeof body !== 'string' || hasTags(body) || body.trim() === '' || isJson(body)) return []
  const type = constantOf(config['contentType'] ?? 'application/json')
  const status = constantOf(config['status'] ?? 200)
  const isSent = status !== undefined && !WITHOUT_BODY.has(Number(status))
  if (type === undefined || !isSent || templateModeOf(String(type)) !== 'json') return []
  const message = `must be JSON, because contentType is ${type}: put texts and keys in double quotes, or set another contentType, such as text/plain`
  return [{ path: 'body', message }]
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
