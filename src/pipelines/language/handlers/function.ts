import { Type } from 'typebox'
import type { ErrorDetail } from '../../../domain/errors.ts'
import { flawOfCode } from '../check-code.ts'
import type { Handler } from '../handler.ts'
import { numberUpTo, valuesByName } from './config.ts'
import { checkWholeNumber } from './words.ts'

export const DEFAULT_TIMEOUT_MS = 5000
export const MAX_TIMEOUT_MS = 30_000
const MAX_CODE = 256 * 1024

export const functionHandler: Handler<'function_handler'> = {
  names: ['function_handler'],
  summary:
    'Runs JavaScript in a sandbox: no network, no files, no timers, 64 MiB. The code declares a sync or async function `handler`, which is called with a frozen copy of `{ user, request, steps, project, deployment, utils }` and, if configured, `args`. `utils`: `sha256(text)`, `hmacSha256(key, text)` (hex), `randomToken(bytes)`, `randomUUID()`, `base64urlEncode(text)`, `base64urlDecode(text)`, `sign(value, seconds)` and `verify(token)` (the value or null; tokens are only valid in this project).',
  result: 'the return value of the function, as JSON.',
  config: Type.Object(
    {
      code: Type.String({ description: 'JavaScript', maxLength: MAX_CODE }),
      args: Type.Optional(
        valuesByName('the `args` of the code, as expressions: the only way to pass it a secret'),
      ),
      timeout: Type.Optional(numberUpTo(MAX_TIMEOUT_MS, `milliseconds: default ${DEFAULT_TIMEOUT_MS}`)),
    },
    { additionalProperties: false },
  ),
  isLiteral: ([key]) => key === 'code',
  foresee: (config) => [
    ...checkCode(config['code']),
    ...checkWholeNumber(config, 'timeout', 1, MAX_TIMEOUT_MS),
  ],
}

function checkCode(code: unknown): ErrorDetail[] {
  const flaw = typeof code === 'string' ? flawOfCode(code) : null
  if (flaw === null) return []
  const { message, line, column } = flaw
  const isWhole = message.startsWith('must')
  return [
    {
      path: 'code',
      message: isWhole ? message : `is not JavaScript: ${message} (line ${line}, column ${column})`,
    },
  ]
}
