import { HOUR_MS } from '../../../domain/durations.ts'
import { isoTime } from '../../../domain/iso-time.ts'
import { isRecent } from '../../../domain/recent.ts'
import { lastBackupFailure, newestBackupAt } from '../../backups/service.ts'
import type { Check } from './check.ts'

/** Backups may be late by as long again. */
const LATE = 2

export const checkBackup: Check = async (ctx) => {
  const { backupDir, backupEveryHours } = ctx.config
  if (backupDir === null) return { status: 'off', message: 'No backups are made: BACKUP_DIR is not set' }
  const newest = await newestBackupAt(ctx)
  const value = newest === null ? null : isoTime(newest)
  const failure = lastBackupFailure(ctx)
  if (failure !== null && (newest === null || failure.at >= newest))
    return { status: 'error', message: `The last backup failed: ${failure.message}`, at: failure.at, value }
  const dueAt = newest ?? ctx.startedAt
  if (!isRecent(dueAt, ctx.now(), LATE * backupEveryHours * HOUR_MS))
    return { status: 'error', message: 'The newest backup is too old', at: newest, value }
  if (newest === null) return { status: 'warn', message: 'There is no backup yet', value }
  return { status: 'ok', message: 'The newest backup is there', at: newest, value }
}
