import { HOUR_MS } from '../../../domain/durations.ts'
import { isoTime } from '../../../domain/iso-time.ts'
import { isRecent } from '../../../domain/recent.ts'
import type { BackupWay, LastBackup } from '../../../platform/last-backup.ts'
import { lastBackup, lastBackupFailure, newestBackupAt } from '../../backups/service.ts'
import type { Check, Finding } from './check.ts'

/** Backups may be late by as long again. */
const LATE = 2

export const checkBackup: Check = async (ctx) => {
  const { backupDir, backupEveryHours } = ctx.config
  if (backupDir === null) return byHand(await lastBackup(ctx))
  const newest = await newestBackupAt(ctx)
  const value = newest === null ? null : isoTime(newest)
  const failure = lastBackupFailure(ctx)
  if (failure !== null && (newest === null || failure.at >= newest))
    return { status: 'error', message: `The last backup failed: ${failure.message}`, at: failure.at, value }
  const dueAt = newest ?? ctx.startedAt
  if (!isRecent(dueAt, ctx.now(), LATE * backupEveryHours * HOUR_MS))
    return { status: 'error', message: 'The newest backup is too old', at: newest, value }
  if (newest === null) return { status: 'warn', message: 'There is no backup in BACKUP_DIR yet', value }
  return { status: 'ok', message: 'The newest backup is there', at: newest, value }
}

/** Without a schedule: no fault, since somebody may see to it. */
function byHand(last: LastBackup | null): Finding {
  const message = 'Backups are made only by hand: BACKUP_DIR is not set'
  if (last === null) return { status: 'off', message: `${message}. There is none yet` }
  return {
    status: 'off',
    message: `${message}. The last one ${WAYS[last.how]}`,
    at: last.at,
    value: isoTime(last.at),
  }
}

const WAYS = {
  schedule: 'was made while it was set',
  page: 'was made while it was set',
  download: 'was downloaded',
  command: 'was made by svc backup',
} as const satisfies Record<BackupWay, string>
