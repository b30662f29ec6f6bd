import type { Context } from '../../../context.ts'
import { DAY_MS } from '../../../domain/durations.ts'
import { isRecent } from '../../../domain/recent.ts'
import { suspendedKeys } from '../../api-keys/service.ts'
import type { Grant } from '../../auth/authorize.ts'
import { lastBackupFailure, newestBackupAt } from '../../backups/service.ts'
import { diskSpace } from '../../storage/floor.ts'
import type { Found } from '../cause.ts'
import { findFirstAccountAt, listHooksOff } from '../queries.ts'

/** What only the admins of the workspace can mend. */
export async function workspaceTroubles(ctx: Context, grant: Grant): Promise<Found[]> {
  return [...(await backups(ctx)), ...disk(ctx), ...keys(ctx, grant)]
}

/** Webhooks that were switched off because their receiver is gone: of a project or of the workspace. */
export const hooksOff = (ctx: Context): Found[] =>
  listHooksOff(ctx.db).map(({ id, projectId, name, updatedAt }) => ({
    code: 'webhook-off',
    severity: 'warn',
    projectId,
    message: `The webhook ${name} is switched off: its receiver answered that it is gone.`,
    href: `${projectId === null ? '/admin' : `/projects/${projectId}`}/webhooks/${id}`,
    needs: projectId === null ? null : 'webhook:manage',
    at: updatedAt,
  }))

const ofWorkspace = { projectId: null, needs: null } as const
const NEEDED_EVERY_MS = 2 * DAY_MS

async function backups(ctx: Context): Promise<Found[]> {
  const href = '/admin/backups'
  const newest = await newestBackupAt(ctx)
  const failure = lastBackupFailure(ctx)
  if (failure !== null && failure.at >= (newest ?? 0)) {
    const message = `The last backup failed: ${failure.message}`
    return [{ ...ofWorkspace, code: 'backup-failed', severity: 'error', message, href, at: failure.at }]
  }
  const since = newest ?? findFirstAccountAt(ctx.db) ?? ctx.now()
  if (isRecent(since, ctx.now(), NEEDED_EVERY_MS)) return []
  const message = newest === null ? 'There is no backup yet.' : 'The newest backup is older than two days.'
  return [{ ...ofWorkspace, code: 'backup-none', severity: 'warn', message, href, at: since }]
}

/** Warns below twice the floor, as the event `disk.low` does. */
function disk(ctx: Context): Found[] {
  const { freeBytes, totalBytes, floorBytes, isLow } = diskSpace(ctx)
  if (freeBytes >= 2 * floorBytes) return []
  const left = `${Math.floor((freeBytes / totalBytes) * 100)} % of the disk is free`
  return [
    {
      ...ofWorkspace,
      code: 'disk-low',
      severity: isLow ? 'error' : 'warn',
      message: isLow ? `${left}, so nothing more is stored.` : `${left}: make room soon.`,
      href: '/admin/health',
      at: ctx.now(),
    },
  ]
}

const keys = (ctx: Context, grant: Grant): Found[] =>
  suspendedKeys(ctx, grant).map(({ name, suspendedAt }) => ({
    ...ofWorkspace,
    code: 'key-suspended',
    severity: 'warn',
    message: `The API key ${name} is suspended: take it over or revoke it.`,
    href: '/keys',
    at: suspendedAt === null ? ctx.now() : Date.parse(suspendedAt),
  }))
