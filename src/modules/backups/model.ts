import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'

export const backupView = t.Object({ name: t.String(), sizeBytes: t.Integer(), createdAt: t.String() })
export type BackupView = Static<typeof backupView>

/** `lastFailure` is that of this process, and null again after a success. */
export const backupsView = t.Object({
  directory: t.Union([t.String(), t.Null()], { description: 'BACKUP_DIR; null: not set up' }),
  everyHours: t.Integer(),
  keep: t.Integer(),
  backups: t.Array(backupView),
  running: orNull(t.Object({ startedAt: t.String() })),
  lastFailure: orNull(t.Object({ at: t.String(), message: t.String() })),
})
export type BackupsView = Static<typeof backupsView>
