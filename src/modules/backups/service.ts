import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { inTransaction } from '../../db/open.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { isRecent } from '../../domain/recent.ts'
import { BACKUP_MARK } from '../../platform/backup.ts'
import { type BackupProcess, spawnBackup } from '../../platform/backup-process.ts'
import { onePer } from '../../platform/one-per.ts'
import { makeFolder } from '../../platform/owner.ts'
import type { Grant } from '../auth/authorize.ts'
import { tellOfBackup } from '../webhooks/watch.ts'
import { type BackupFile, backupName, listBackupFiles, removeLeftovers, removeOldBackups } from './files.ts'
import type { BackupsView, BackupView } from './model.ts'

export type { BackupsView, BackupView } from './model.ts'

type Running = { startedAt: number; process: BackupProcess; result: Promise<BackupFile> }
type State = { running: Running | null; lastFailure: Failure | null; failures: number }
type Failure = { at: number; message: string }
const stateOf = onePer((_: Context): State => ({ running: null, lastFailure: null, failures: 0 }))

/** How long to wait after a failure before the next try. */
const RETRY_MS = HOUR_MS
/** How long a request waits for its backup: a connection must not be silent for longer. */
const ANSWER_MS = 30_000
/** A marker that was not renewed for this long was left by a crash. */
const MARK_FRESH_MS = 5 * MINUTE_MS

export async function listBackups(ctx: Context, _grant: Grant): Promise<BackupsView> {
  const { backupDir, backupEveryHours, backupKeep } = ctx.config
  const { running, lastFailure } = stateOf(ctx)
  return {
    directory: backupDir,
    everyHours: backupEveryHours,
    keep: backupKeep,
    backups: backupDir === null ? [] : (await listBackupFiles(backupDir, ctx.now())).map(toView),
    running: running && { startedAt: isoTime(running.startedAt) },
    lastFailure: lastFailure && { ...lastFailure, at: isoTime(lastFailure.at) },
  }
}

/**
 * Makes a backup now, or joins one that is being made. Undefined when it takes longer than a request may wait. Throws
 * 409 when backups are not set up.
 */
export async function makeBackup(ctx: Context, grant: Grant): Promise<BackupView | undefined> {
  const { backupDir } = ctx.config
  if (backupDir === null)
    throw new AppError('conflict', 'No folder is set for backups: start svc with BACKUP_DIR', {
      code: 'BACKUPS_NOT_SET_UP',
    })
  if (stateOf(ctx).running === null)
    inTransaction(ctx.db, (tx) =>
      audit(ctx, tx, grant.actor, {
        action: 'backup.create',
        target: { kind: 'backup', id: null, name: null },
      }),
    )
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), ANSWER_MS)
  try {
    const made = await Promise.race([start(ctx, backupDir), late.promise])
    return made && toView(made)
  } catch (error) {
    throw new AppError('internal', `The backup failed: ${messageOf(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Logs at the start that backups will fail: the first one may be due only much later. */
export function tellOfBadFolder({ config: { backupDir }, log }: Context): void {
  if (backupDir === null) return
  try {
    makeFolder(backupDir)
    accessSync(backupDir, constants.W_OK | constants.X_OK)
  } catch (error) {
    log.error('BACKUP_DIR cannot be written: there will be no backups', { reason: messageOf(error) })
  }
}

/** Makes a backup if none was made within the interval and a folder is set. Always removes leftovers. */
export async function makeBackupWhenDue(ctx: Context): Promise<void> {
  const { backupDir, backupEveryHours, dataDir } = ctx.config
  await removeLeftovers(backupDir, dataDir, ctx.now())
  const { lastFailure } = stateOf(ctx)
  if (backupDir === null) return
  if (lastFailure !== null && isRecent(lastFailure.at, ctx.now(), RETRY_MS)) return
  const files = await listBackupFiles(backupDir, ctx.now())
  const isFresh = files.some(({ createdAt }) => isRecent(createdAt, ctx.now(), backupEveryHours * HOUR_MS))
  if (!isFresh) await start(ctx, backupDir)
}

/** Stops a backup that is being made and removes what it wrote. */
export async function stopBackups(ctx: Context): Promise<void> {
  const { running } = stateOf(ctx)
  running?.process.kill()
  await running?.result.catch(() => {})
}

/** When the newest backup was made; null if there is none. */
export async function newestBackupAt(ctx: Context): Promise<number | null> {
  const { backupDir } = ctx.config
  return backupDir === null ? null : ((await listBackupFiles(backupDir, ctx.now()))[0]?.createdAt ?? null)
}

/** The last failure since the start, if no backup has been made since. */
export const lastBackupFailure = (ctx: Context): Failure | null => stateOf(ctx).lastFailure

/** How many backups failed since the start. */
export const countBackupFailures = (ctx: Context): number => stateOf(ctx).failures

/** True while this or another process reads contents for a backup: then nothing may be freed. */
export function isBackupRunning(ctx: Context): boolean {
  // A clock that jumps makes our own marker look old until it is renewed.
  if (stateOf(ctx).running !== null) return true
  const { dataDir } = ctx.config
  return readdirSync(dataDir)
    .filter((name) => name.startsWith(BACKUP_MARK))
    .map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false }))
    .some((mark) => mark !== undefined && isRecent(mark.mtimeMs, ctx.now(), MARK_FRESH_MS))
}

function start(ctx: Context, folder: string): Promise<BackupFile> {
  const state = stateOf(ctx)
  if (state.running !== null) return state.running.result
  const startedAt = ctx.now()
  const name = backupName(startedAt)
  const process = startProcess(ctx, state, folder, name)
  const result = finish(ctx, state, folder, name, process)
  // Whoever awaits the result gets the failure, but it may be that nobody does.
  result.catch(() => {})
  state.running = { startedAt, process, result }
  return result
}

function startProcess(ctx: Context, state: State, folder: string, name: string): BackupProcess {
  try {
    makeFolder(folder)
    return spawnBackup(resolve(ctx.config.dataDir), resolve(folder, name))
  } catch (error) {
    throw failed(ctx, state, error)
  }
}

async function finish(
  ctx: Context,
  state: State,
  folder: string,
  name: string,
  process: BackupProcess,
): Promise<BackupFile> {
  try {
    await process.done
    state.lastFailure = null
    const made = (await listBackupFiles(folder, ctx.now())).find((file) => file.name === name)
    if (made === undefined) throw new Error(`${name} is not in ${folder}`)
    await removeOldBackups(folder, ctx.config.backupKeep, ctx.now())
    ctx.log.info('backup written', { name, sizeBytes: made.sizeBytes })
    return made
  } catch (error) {
    throw failed(ctx, state, error)
  } finally {
    state.running = null
  }
}

/** Remembers the failure: `backup.lastFailure` shows it, and the next try waits. */
function failed(ctx: Context, state: State, error: unknown): unknown {
  const message = messageOf(error)
  state.lastFailure = { at: ctx.now(), message }
  state.failures += 1
  void tellHooksOf(ctx, message)
  return error
}

/** A full disk must not hide why the backup failed. */
async function tellHooksOf(ctx: Context, message: string): Promise<void> {
  try {
    tellOfBackup(ctx, message, await newestBackupAt(ctx).catch(() => null))
  } catch (error) {
    ctx.log.error('the hooks could not be told of a failed backup', { error })
  }
}

const toView = ({ name, sizeBytes, createdAt }: BackupFile): BackupView => ({
  name,
  sizeBytes,
  createdAt: isoTime(createdAt),
})
