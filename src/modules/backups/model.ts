import { type Static, t } from 'elysia'
import { orNull } from '../../http/or-null.ts'
import { typedPassword } from '../auth/model.ts'

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
  last: orNull(
    t.Object({
      at: t.String(),
      how: t.Union([t.Literal('schedule'), t.Literal('page'), t.Literal('download'), t.Literal('command')]),
      by: orNull(t.String()),
    }),
  ),
  lastDrill: orNull(t.Object({ at: t.String(), ok: t.Boolean(), message: t.String() })),
})
/** The proofs of a sign-in; without a password the session has to be fresh. */
export const proofBody = t.Object({
  password: t.Optional(typedPassword),
  code: t.Optional(t.String({ maxLength: 64 })),
})

export type BackupsView = Static<typeof backupsView>
