import type { Context } from '../../context.ts'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import type { Quota, Usage } from './model.ts'
import { findQuota, sumContents, sumDeployments, sumOfUploads } from './queries.ts'

/**
 * Throws `QUOTA_EXCEEDED` if the project would store more than its quota with what is `needed` besides. For what is known
 * before the contents are sent; `withinQuota` decides in the end. contract 16 §3.
 */
export function refuseBeyondQuota(ctx: Context, projectId: string, needed: Usage): void {
  const quota = findQuota(ctx.db, projectId)
  if (quota !== null) refuse(quota, usedNow(ctx, projectId, quota, needed.bytes), needed)
}

/**
 * Runs the writes of a publish, in its transaction, and throws if they take the project over its quota. What needs no more
 * than was there before always works. `bytes`: no more than this can come.
 */
export function withinQuota<T>(ctx: Context, projectId: string, bytes: number, publish: () => T): T {
  const quota = findQuota(ctx.db, projectId)
  if (quota === null) return publish()
  const before = usedNow(ctx, projectId, quota, bytes)
  const result = publish()
  const after = usedNow(ctx, projectId, quota, 0, before.bytes + bytes)
  refuse(quota, before, {
    bytes: after.bytes - before.bytes,
    deployments: after.deployments - before.deployments,
    files: after.files - before.files,
  })
  return result
}

/**
 * `bytes` is at least what is stored, and exact where `incoming` bytes more might be too much: all files are read then. `most`: no
 * more is stored.
 */
function usedNow(
  ctx: Context,
  projectId: string,
  quota: Quota,
  incoming: number,
  most = Number.POSITIVE_INFINITY,
): Usage {
  const now = ctx.now()
  const { published, uploaded, deployments, files } = sumDeployments(ctx.db, projectId)
  const atMost = Math.min(most, published + uploaded + sumOfUploads(ctx.db, projectId, now))
  const isEnough = quota.bytes === null || atMost + incoming <= quota.bytes
  return { bytes: isEnough ? atMost : sumContents(ctx.db, projectId, now), deployments, files }
}

const WORDS = { bytes: 'bytes', deployments: 'deployments', files: 'files in all deployments' }

function refuse(quota: Quota, used: Usage, needed: Usage): void {
  const details = (['bytes', 'deployments', 'files'] as const).flatMap((path): ErrorDetail[] => {
    const limit = quota[path]
    if (limit === null || needed[path] <= 0 || used[path] + needed[path] <= limit) return []
    const message = `the project may store ${limit} ${WORDS[path]}, stores ${used[path]} and needs ${needed[path]} more`
    return [{ path, message, limit, used: used[path], needed: needed[path] }]
  })
  const [first] = details
  if (first === undefined) return
  throw new AppError('too_large', `The quota is used up: ${first.message}. Nothing was kept.`, {
    code: 'QUOTA_EXCEEDED',
    details,
  })
}
