import { Type } from 'typebox'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { responseHeadersToForward } from '../../domain/forward-headers.ts'
import { Answer, AuthorError, BodyTemplate, type Handler, type StepContext } from '../handler.ts'
import { ExpressionError } from '../language/expressions.ts'
import { checkHeaders, flawOfHeader, sentValue } from '../language/handlers/headers.ts'
import { checkWholeNumber, constantOf } from '../language/handlers/words.ts'
import { jsonOf, jsonOfConfig } from '../language/json-text.ts'
import { hasTags, parseTemplate, templateModeOf } from '../language/templates.ts'
import { expression, numberOr, objectOf, optionalText, valuesByName } from './config.ts'

const WITHOUT_BODY = new Set([204, 205, 304])

export const responseHandler: Handler = {
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
  run(step, config) {
    const status = statusOf(config['status'])
    const contentType = withCharset(optionalText(config, 'contentType') ?? 'application/json')
    const body = WITHOUT_BODY.has(status) ? null : renderBody(step, config['body'], contentType)
    return new Answer({ status, headers: headersOf(config, contentType, body !== null), body })
  },
}

/** Without a charset browsers read a text as Windows-1252. All that is sent is UTF-8. */
const withCharset = (type: string): string =>
  /^text\//i.test(type) && !/;\s*charset=/i.test(type) ? `${type}; charset=utf-8` : type

/** A wrong status is a fault of the rule, whatever value it came from: 500. */
function statusOf(given: unknown): number {
  if (given === undefined || given === null || given === '') return 200
  const status = typeof given === 'string' && /^\d{3}$/.test(given) ? Number(given) : given
  if (typeof status === 'number' && Number.isInteger(status) && status >= 200 && status <= 599) return status
  throw new AppError('internal', 'The step answers with a status that does not exist')
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

function renderBody(step: StepContext, body: unknown, contentType: string): string {
  if (body === undefined || body === null) return ''
  return body instanceof BodyTemplate ? step.render(body, templateModeOf(contentType)) : jsonOfConfig(body)
}

/**
 * A pipeline may set the same headers as a proxied backend: no reserved cookies, and nothing that frames the message.
 */
function headersOf(
  config: Readonly<Record<string, unknown>>,
  contentType: string,
  hasBody: boolean,
): [string, string][] {
  const given = Object.entries(config['headers'] === undefined ? {} : objectOf(config, 'headers')).flatMap(
    ([name, value]): [string, string][] =>
      value === null || value === undefined
        ? []
        : valuesOf(value).map((one) => [name.toLowerCase(), sentValue(name, one)]),
  )
  const allowed = given.length === 0 ? given : responseHeadersToForward(given)
  const passed = allowed.filter(([name]) => name !== 'content-length' && name !== 'content-type')
  const headers: [string, string][] = hasBody ? [['content-type', contentType], ...passed] : passed
  for (const [name, value] of headers) {
    const flaw = flawOfHeader(name, value)
    if (flaw !== null)
      throw new AppError('internal', `The step sets a header that cannot be sent: ${name.slice(0, 50)}`, {
        cause: new AuthorError(flaw),
      })
  }
  return headers
}

/** A list sets the header several times. */
function valuesOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value]
  return list.map((one) => (typeof one === 'object' && one !== null ? jsonOf(one) : String(one)))
}
