import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { AuthorError, type Handler, type StepContext } from '../handler.ts'
import { requestView } from '../input.ts'
import { jsonOf, jsonOfConfig } from '../json-text.ts'
import type { SandboxFailure } from '../sandbox/protocol.ts'
import { sandboxFor } from '../sandbox/sandbox-for.ts'
import { numberOr, objectOf, valuesByName, wholeNumber } from './config.ts'

const DEFAULT_TIMEOUT_MS = 5000
const MAX_TIMEOUT_MS = 30_000
const MAX_CODE = 256 * 1024

export const functionHandler: Handler = {
  names: ['function_handler'],
  summary:
    'Runs JavaScript in a sandbox: no network, no files, no timers, 64 MiB. The code declares `handler`, a function, sync or async, which is called with a frozen copy of `{ user, request, steps, project, deployment, utils }`, and with `args` those too. `utils`: `sha256(text)`, `hmacSha256(key, text)` (hex), `randomToken(bytes)`, `randomUUID()`, `base64urlEncode(text)`, `base64urlDecode(text)`, `sign(value, seconds)` and `verify(token)` (the value or null; tokens are good in this project only).',
  result: 'what the function gives back, as JSON.',
  config: Type.Object(
    {
      code: Type.String({ description: 'JavaScript', maxLength: MAX_CODE }),
      args: Type.Optional(
        valuesByName('what the code gets as `args`, as expressions: a secret reaches it in no other way'),
      ),
      timeout: Type.Optional(
        numberOr(`milliseconds: ${DEFAULT_TIMEOUT_MS} unless given, at most ${MAX_TIMEOUT_MS}`),
      ),
    },
    { additionalProperties: false },
  ),
  isLiteral: ([key]) => key === 'code',
  limitMs: null,
  async run(step, config) {
    const code = config['code']
    if (typeof code !== 'string') throw new AppError('internal', 'The step has no code')
    const result = await sandboxFor(step.ctx).run(step.projectId, {
      code,
      input: inputOf(step, config['args'] === undefined ? null : objectOf(config, 'args')),
      timeoutMs: Math.min(wholeNumber(config, 'timeout', DEFAULT_TIMEOUT_MS, 1), MAX_TIMEOUT_MS),
      keys: signingKeys(step),
    })
    if (result.ok) return JSON.parse(result.json)
    throw failureOf(result.kind, result.message)
  },
}

function inputOf({ input, outputs }: StepContext, args: Record<string, unknown> | null): string {
  const steps = Object.entries(outputs).map(([name, output]) => `${JSON.stringify(name)}:${jsonOf(output)}`)
  const { user, project, deployment } = input
  const rest = JSON.stringify({ user, project, deployment, request: requestView(input) })
  const given = args === null ? '' : `"args":${jsonOfConfig(args)},`
  return `{"steps":{${steps.join(',')}},${given}${rest.slice(1)}`
}

const keysByProject = onePer((_: Context) => new Map<string, string[]>())

/** Keys of `sign` and `verify`: derived from the server's, one of their own for each project. */
function signingKeys({ ctx, projectId }: StepContext): string[] {
  const kept = keysByProject(ctx)
  const keys =
    kept.get(projectId) ??
    ctx.secrets.deriveKeys(`pipeline tokens of ${projectId}`).map((key) => key.toString('base64'))
  kept.set(projectId, keys)
  return keys
}

const MESSAGES: Record<SandboxFailure, string> = {
  threw: 'The function failed. The run log of the project says how.',
  timeout: 'The function took longer than it may.',
  memory: 'The function took more memory than it may.',
  too_large: 'The function gave back more than it may.',
  never_settles: 'The function gave back a promise that never settles.',
  broken: 'The function broke its sandbox.',
  busy: 'Too many functions wait to be run. Try again soon.',
}

/** The author's own message is for the log: a visitor sees none of it. */
function failureOf(kind: SandboxFailure, message: string): AppError {
  return new AppError(kind === 'busy' ? 'unavailable' : 'internal', MESSAGES[kind], {
    cause: new AuthorError(message),
  })
}
