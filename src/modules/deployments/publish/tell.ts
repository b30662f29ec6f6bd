import type { Caller, Context } from '../../../context.ts'
import type { DbOrTx } from '../../../db/open.ts'
import { inUpkeepTransaction } from '../../../db/tidying.ts'
import type { Actor } from '../../../domain/actor.ts'
import { AppError } from '../../../domain/errors.ts'
import { once } from '../../../platform/once.ts'
import type { AliasMove } from '../../aliases/moves.ts'
import type { AliasRow } from '../../aliases/service.ts'
import type { Project } from '../../projects/service.ts'
import { tellHooks } from '../../webhooks/outbox.ts'
import { deploymentView } from '../service.ts'

type Publish = {
  project: Project
  deployment: { id: string }
  alias: AliasRow | null
  move: AliasMove | null
  /** It made a version. */
  isNew: boolean
}

/** Tells the hooks of what was published, in its transaction. contract 16 §4. */
export function tellOfPublish(
  ctx: Context,
  tx: DbOrTx,
  actor: Actor,
  { project, deployment, alias, move, isNew }: Publish,
): void {
  const projectId = project.id
  const view = once(() => deploymentView(ctx, deployment))
  if (isNew)
    tellHooks(ctx, tx, {
      event: 'deployment.created',
      actor,
      projectId,
      data: () => ({ deployment: view() }),
    })
  if (alias !== null && move !== null)
    tellHooks(ctx, tx, {
      event: 'deployment.released',
      actor,
      projectId,
      data: () => ({ deployment: view(), alias: alias.name, previous: move.from }),
    })
}

/** What failed to be published, as far as it is known. `project` undefined: it was to be made. */
export type Failure = { project: Project | undefined; commitSha: string | null; alias: string | null }

const TOLD = new Set([400, 409, 413, 500, 507])

/** Runs a publish, and tells the hooks when it is refused or breaks. `failureOf` throws for somebody who may not publish. */
export async function tellingOfFailure<T>(
  ctx: Context,
  { actor }: Caller,
  failureOf: () => Failure | undefined,
  publish: () => Promise<T>,
): Promise<T> {
  try {
    return await publish()
  } catch (error) {
    const body = error instanceof AppError ? error.toBody() : UNKNOWN
    if (TOLD.has(body.statusCode)) tellOfFailure(ctx, actor, failureOf, body)
    throw error
  }
}

const UNKNOWN = new AppError('internal', 'Something went wrong on this server').toBody()

type ErrorBody = ReturnType<AppError['toBody']>

/** A failure to tell is not one of the publish. */
function tellOfFailure(
  ctx: Context,
  actor: Actor,
  failureOf: () => Failure | undefined,
  { statusCode, error, message }: ErrorBody,
): void {
  try {
    const failure = failureOf()
    if (failure === undefined) return
    const { project, commitSha, alias } = failure
    const data = () => ({ commitSha, alias, error: { statusCode, error, message } })
    inUpkeepTransaction(ctx.db, (tx) =>
      tellHooks(ctx, tx, { event: 'deployment.failed', actor, projectId: project?.id ?? null, data }),
    )
  } catch (cause) {
    if (!(cause instanceof AppError)) ctx.log.error('the hooks could not be told', { error: cause })
  }
}
