import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { onePer } from '../../platform/one-per.ts'
import { requestView } from '../input.ts'
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../language/handlers/function.ts'
import { jsonOf, jsonOfConfig } from '../language/json-text.ts'
import { AuthorError, type Runner, type StepContext } from '../runner.ts'
import type { SandboxFailure } from '../sandbox/protocol.ts'
import { runInSandbox } from '../sandbox/sandbox-for.ts'
import { objectOf, wholeNumber } from './config.ts'

export const functionRunner: Runner = {
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
