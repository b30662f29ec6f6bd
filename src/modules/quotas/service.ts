import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import type { DbOrTx } from '../../db/open.ts'
import { inTidyingTransaction } from '../../db/tidying.ts'
import { differingFields } from '../../domain/differing-fields.ts'
import { AppError } from '../../domain/errors.ts'
import { given, isEmpty } from '../../domain/given.ts'
import { nextTurn } from '../../platform/next-turn.ts'
import type { Grant } from '../auth/authorize.ts'
import { findProjectById } from '../projects/service.ts'
import { NO_QUOTA, type Quota, type QuotaChange, type QuotaView, type Usage } from './model.ts'
import {
  findQuota,
  listContentsBesides,
  listContentsOf,
  listDeploymentIds,
  putQuota,
  sumDeployments,
} from './queries.ts'

export { NO_QUOTA, type Quota, type QuotaView } from './model.ts'
export { listQuotas } from './queries.ts'

/** What the project may store, and what it stores. The grant is to read the project, or to administer the workspace. */
export async function getQuota(ctx: Context, _grant: Grant, projectId: string): Promise<QuotaView> {
  return { quota: findQuota(ctx.db, projectId) ?? NO_QUOTA, used: await usageOf(ctx, projectId) }
}

/** The same; undefined where there is no limit, for which nothing is counted. */
export async function getSetQuota(
  ctx: Context,
  grant: Grant,
  projectId: string,
): Promise<QuotaView | undefined> {
  const { bytes, deployments, files } = findQuota(ctx.db, projectId) ?? NO_QUOTA
  const isSet = bytes !== null || deployments !== null || files !== null
  return isSet ? getQuota(ctx, grant, projectId) : undefined
}

/** Changes the limits that are given. A quota below what is stored deletes nothing. */
export async function changeQuota(
  ctx: Context,
  grant: Grant,
  projectId: string,
  change: QuotaChange,
): Promise<QuotaView> {
  if (findProjectById(ctx, projectId) === undefined)
    throw new AppError('not_found', 'There is no such project')
  const patch = given(change)
  if (!isEmpty(patch)) inTidyingTransaction(ctx.db, (tx) => putLimits(ctx, tx, grant, projectId, patch))
  return getQuota(ctx, grant, projectId)
}

export const quotaOf = (ctx: Context, projectId: string): Quota => findQuota(ctx.db, projectId) ?? NO_QUOTA

/** Changes the limits that are given, in the caller's transaction. */
export function putLimits(
  ctx: Context,
  tx: DbOrTx,
  grant: Grant,
  projectId: string,
  limits: Partial<Quota>,
): void {
  const project = findProjectById(ctx, projectId)
  if (project === undefined) throw new AppError('not_found', 'There is no such project')
  const before = quotaOf(ctx, projectId)
  const after: Quota = { ...before, ...limits }
  putQuota(ctx.db, projectId, after)
  audit(ctx, tx, grant.actor, {
    action: 'quota.change',
    target: { kind: 'project', id: projectId, name: `${project.owner}/${project.name}` },
    projectId,
    before,
    after,
    undo: differingFields(before, after),
  })
}

const FILES_AT_ONCE = 5000

/** Reads the files of a few deployments at a time, so that nobody waits. */
async function usageOf(ctx: Context, projectId: string): Promise<Usage> {
  const seen = new Map(
    listContentsBesides(ctx.db, projectId, ctx.now()).map((one) => [one.id, one.sizeBytes]),
  )
  let read = 0
  for (const deploymentId of listDeploymentIds(ctx.db, projectId)) {
    const contents = listContentsOf(ctx.db, deploymentId)
    for (const { id, sizeBytes } of contents) seen.set(id, sizeBytes)
    read += contents.length + 1
    if (read < FILES_AT_ONCE) continue
    read = 0
    await nextTurn()
  }
  const { deployments, files } = sumDeployments(ctx.db, projectId)
  let bytes = 0
  for (const sizeBytes of seen.values()) bytes += sizeBytes
  return { bytes, deployments, files }
}
