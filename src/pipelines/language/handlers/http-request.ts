import { Type } from 'typebox'
import { type ErrorDetail, messageOf } from '../../../domain/errors.ts'
import type { Handler } from '../handler.ts'
import { hasTags, parseTemplate } from '../templates.ts'
import { anyValue, expression, numberUpTo, valuesByName } from './config.ts'
import { checkHeaders } from './headers.ts'
import { checkWholeNumber, constantOf } from './words.ts'

export const DEFAULT_TIMEOUT_MS = 30_000
export const MAX_TIMEOUT_MS = 60_000
export const METHOD = /^[A-Za-z]{1,20}$/

export const httpRequestHandler: Handler<'http_request'> = {
  names: ['http_request'],
  summary:
    'Calls another server over HTTPS, under the same rules as a proxy: no private addresses. Redirects are not followed.',
  result: '`{ status, headers, body }`; a JSON body is parsed.',
  config: Type.Object(
    {
      url: expression('an HTTPS URL'),
      method: Type.Optional(expression('default GET')),
      headers: Type.Optional(valuesByName('headers to send')),
      body: Type.Optional(anyValue('a text, or an object, which is sent as JSON')),
      timeout: Type.Optional(numberUpTo(MAX_TIMEOUT_MS, `milliseconds: default ${DEFAULT_TIMEOUT_MS}`)),
      failOnError: Type.Optional(
        Type.Union([Type.Boolean(), Type.String()], {
          description: 'whether a response other than 2xx fails the step; default true',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: (path, text) => path.length === 1 && path[0] === 'body' && hasTags(text),
  check: (config) => checkTemplate(config['body']),
  foresee: (config) => [
    ...checkUrl(config['url']),
    ...checkMethod(config['method']),
    ...checkHeaders(config['headers']),
    ...checkWholeNumber(config, 'timeout', 1, MAX_TIMEOUT_MS),
  ],
}

function checkUrl(given: unknown): ErrorDetail[] {
  const url = constantOf(given)
  const isGood = typeof url !== 'string' || (URL.canParse(url) && new URL(url).protocol === 'https:')
  return isGood
    ? []
    : [{ path: 'url', message: 'must be an https address, such as https://api.example.com/v1' }]
}

function checkMethod(given: unknown): ErrorDetail[] {
  const method = constantOf(given)
  const isGood = typeof method !== 'string' || METHOD.test(method)
  return isGood ? [] : [{ path: 'method', message: 'must be an HTTP method, such as POST' }]
}

function checkTemplate(body: unknown): { path: string; message: string }[] {
  if (typeof body !== 'string' || !hasTags(body)) return []
  try {
    parseTemplate(body, 'json')
    return []
  } catch (error) {
    return [{ path: 'body', message: messageOf(error) }]
  }
}
