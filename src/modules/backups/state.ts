import type { Context } from '../../context.ts'
import { AppError } from '../../domain/errors.ts'
import type { BackupProcess } from '../../platform/backup-process.ts'
import { onePer } from '../../platform/one-per.ts'
import type { BackupFile } from './names.ts'

/** What this process knows of its backups. */
type State = {
  running: { startedAt: number; process: BackupProcess; result: Promise<BackupFile> } | null
  /** One that is being made to be fetched. `stop` ends it. */
  download: { stop: () => void } | null
  lastFailure: Failure | null
  failures: number
  /** What was there when it was last looked at; null: it never was. */
  known: BackupFile[] | null
}
export type Failure = { at: number; message: string }
export type { State }

export const stateOf = onePer(
  (_: Context): State => ({ running: null, download: null, lastFailure: null, failures: 0, known: null }),
)

/** Until `release` no other backup is made to be fetched. `stop` aborts when the server ends. Throws 409 `BACKUP_RUNNING`. */
export function claimDownload(ctx: Context): { stop: AbortSignal; release(): void } {
  const state = stateOf(ctx)
  if (state.running !== null || state.download !== null)
    throw new AppError('conflict', 'Another backup is being made. Try again when it is done.', {
      code: 'BACKUP_RUNNING',
    })
  const ending = new AbortController()
  state.download = { stop: () => ending.abort() }
  return {
    stop: ending.signal,
    release() {
      state.download = null
    },
  }
}
