import { AppError } from '../../domain/errors.ts'
import { responseHeadersToForward } from '../../domain/forward-headers.ts'
import { BodyTemplate } from '../language/handler.ts'
import { flawOfHeader, sentValue } from '../language/handlers/headers.ts'
import { WITHOUT_BODY } from '../language/handlers/response.ts'
import { jsonOf, jsonOfConfig } from '../language/json-text.ts'
import { templateModeOf } from '../language/templates.ts'
import { Answer, AuthorError, type Runner, type StepContext } from '../runner.ts'
import { objectOf, optionalText } from './config.ts'

export const responseRunner: Runner = {
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
