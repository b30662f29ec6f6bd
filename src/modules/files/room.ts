import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import { refuseBeyondQuota } from '../quotas/check.ts'
import { refuseLowDisk } from '../storage/floor.ts'
import { findFileRow, totalsOf } from './queries.ts'

/**
 * Throws 413 or 507 unless the project may store a file of `size` bytes more, in place of the one that `path` names. For what
 * is known before the bytes are sent. contract 14.2.
 */
export function refuseBeyondRoom(
  ctx: Context,
  projectId: string,
  { size, path }: { size: number; path?: string | undefined },
): void {
  refuseLowDisk(ctx)
  const replaced = path === undefined ? 0 : (findFileRow(ctx.db, projectId, path)?.size ?? 0)
  const more = Math.max(0, size - replaced)
  refuseFullProject(ctx, totalsOf(ctx.db, projectId).bytes, more)
  refuseBeyondQuota(ctx, projectId, { bytes: more, deployments: 0, files: 0 })
}

/** Throws if files of `more` bytes besides those `used` are too much. What needs nothing more is never refused. */
export function refuseFullProject({ config }: Pick<Context, 'config'>, used: number, more: number): void {
  const limit = config.projectFilesBytes
  if (limit === 0 || more <= 0 || used + more <= limit) return
  const message = `its files may have ${limit} bytes, have ${used} and need ${more} more`
  throw new AppError(
    'too_large',
    `The project is full: ${message} (PROJECT_FILES_BYTES). Nothing was stored.`,
    {
      code: 'PROJECT_FILES_FULL',
      details: [{ path: 'bytes', message, limit, used, needed: more }],
    },
  )
}
