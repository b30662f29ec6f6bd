import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { ownerOf } from '../../modules/members/service.ts'
import { onePer } from '../../platform/one-per.ts'
import { AuthorError, type StepContext } from '../runner.ts'
import { createSandbox } from '../sandbox.ts'
import type { SandboxFailure, SandboxJob, SandboxResult } from './protocol.ts'

/** The sandbox of this server. It starts no process before the first job. */
export const sandboxFor = onePer(({ config }: Context) =>
  createSandbox({ processes: config.sandboxProcesses }),
)

type JobResult =
  | Extract<SandboxResult, { ok: true }>
  | { ok: false; kind: Exclude<SandboxFailure, 'busy'>; message: string }

/** Runs a job of a step, in the turn of its project. Throws 503 `SANDBOX_BUSY` if it cannot start soon. contract 14.1. */
export async function runInSandbox(
  { ctx, projectId }: Pick<StepContext, 'ctx' | 'projectId'>,
  job: SandboxJob,
): Promise<JobResult> {
  const ownerId = ownerOf(ctx, projectId) ?? projectId
  const result = await sandboxFor(ctx).run({ projectId, ownerId }, job)
  if (result.ok) return result
  const { ok, kind, message } = result
  if (kind !== 'busy') return { ok, kind, message }
  throw new AppError('unavailable', 'Too many functions are waiting to run. Try again soon.', {
    code: 'SANDBOX_BUSY',
    headers: { 'retry-after': '10' },
    cause: new AuthorError(message),
  })
}
