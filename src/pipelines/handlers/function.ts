import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { AuthorError, type Handler, type StepContext } from '../handler.ts'
import { requestView } from '../input.ts'
import { flawOfCode } from '../language/check-code.ts'
import { checkWholeNumber } from '../language/handlers/words.ts'
import { jsonOf, jsonOfConfig } from '../language/json-text.ts'
import type { SandboxFailure } from '../sandbox/protocol.ts'
import { runInSandbox } from '../sandbox/sandbox-for.ts'
import { numberUpTo, objectOf, valuesByName, wholeNumber } from './config.ts'

const DEFAULT_TIMEOUT_MS = 5000
const MAX_TIMEOUT_MS = 30_000
const MAX_CODE = 256 * 1024

export const functionHandler: Handler = {
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
  boundsOwnTime: true,
  async run(step, config) {
    const code = config['code']
    if (typeof code !== 'string') throw new AppError('internal', 'The step has no code')
    const result = await runInSandbox(step, {
      code,
      input: inputOf(step, config['args'] === undefined ? null : objectOf(config, 'args')),
      timeoutMs: Math.min(wholeNumber(config, 'timeout', DEFAULT_TIMEOUT_MS, 1), MAX_TIMEOUT_MS),
      keys: signingKeys(step),
    })
    if (result.ok) return JSON.parse(result.json)
    throw failureOf(result.kind, result.message)
  },
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

function inputOf({ input, outputs }: StepContext, args: Record<string, unknown> | null): string {
  const steps = Object.entries(outputs).map(([name, output]) => `${JSON.stringify(name)}:${jsonOf(output)}`)
  const { user, project, deployment } = input
  const rest = JSON.stringify({ user, project, deployment, request: requestView(input) })
  const given = args === null ? '' : `"args":${jsonOfConfig(args)},`
  return `{"steps":{${steps.join(',')}},${given}${rest.slice(1)}`
}

const keysByProject = onePer((_: Context) => new Map<string, string[]>())

/** Keys of `sign` and `verify`, derived from the keys of the server, different for each project. */
function signingKeys({ ctx, projectId }: StepContext): string[] {
  const kept = keysByProject(ctx)
  const keys =
    kept.get(projectId) ??
    ctx.secrets.deriveKeys(`pipeline tokens of ${projectId}`).map((key) => key.toString('base64'))
  kept.set(projectId, keys)
  return keys
}

const MESSAGES: Record<Exclude<SandboxFailure, 'busy'>, string> = {
  threw: 'The function failed. The run log of the project says why.',
  timeout: 'The function exceeded its time limit.',
  memory: 'The function exceeded its memory limit.',
  too_large: 'The function returned a result that is too large.',
  never_settles: 'The function returned a promise that never settles.',
  broken: 'The function broke its sandbox.',
}

/** The author's own message goes to the log only: a visitor never sees it. */
function failureOf(kind: keyof typeof MESSAGES, message: string): AppError {
  return new AppError('internal', MESSAGES[kind], { cause: new AuthorError(message) })
}
