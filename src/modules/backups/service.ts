import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { storeWarning } from '../../config/store.ts'
import { storeEnv } from '../../config/store-access.ts'
import type { Context } from '../../context.ts'
import { audit } from '../../db/audit.ts'
import { refuseMoved } from '../../db/database-file.ts'
import { inTransaction } from '../../db/open.ts'
import { HOUR_MS, MINUTE_MS } from '../../domain/durations.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import { isoTime } from '../../domain/iso-time.ts'
import { isRecent } from '../../domain/recent.ts'
import { BACKUP_MARK } from '../../platform/backup.ts'
import { type BackupProcess, spawnBackup } from '../../platform/backup-process.ts'
import {
  type BackupWay,
  type LastBackup,
  readLastBackup,
  writeLastBackup,
} from '../../platform/last-backup.ts'
import type { Grant } from '../auth/authorize.ts'
import { tellOfBackup } from '../webhooks/watch.ts'
import { removeLocalLeftovers } from './leftovers.ts'
import type { BackupsView, BackupView } from './model.ts'
import { type BackupFile, backupName, newestFirst } from './names.ts'
import type { BackupPlace } from './place.ts'
import { placeOf } from './place-of.ts'
import { type Failure, type State, stateOf } from './state.ts'

export type { BackupsView, BackupView } from './model.ts'

/** How long to wait after a failure before the next try. */
const RETRY_MS = HOUR_MS
/** How long a request waits for its backup: a connection must not be silent for longer. */
const ANSWER_MS = 30_000
/** A marker that was not renewed for this long was left by a crash. */
const MARK_FRESH_MS = 5 * MINUTE_MS

export async function listBackups(ctx: Context, _grant: Grant): Promise<BackupsView> {
  const { backupDir, backupEveryHours, backupKeep } = ctx.config
  const place = placeOf(ctx)
  const state = stateOf(ctx)
  // Before the files: one that ends meanwhile is among them, or still running.
  const { running } = state
  let unlisted: Failure | null = null
  const files =
    place === null
      ? []
      : await filesAt(ctx, place).catch((error: unknown) => {
          unlisted = { at: ctx.now(), message: `the backups cannot be listed: ${messageOf(error)}` }
          return state.known ?? []
        })
  const lastFailure = state.lastFailure ?? unlisted
  return {
    directory: backupDir?.text ?? null,
    everyHours: backupEveryHours,
    keep: backupKeep,
    backups: files.map(toView),
    running: running && { startedAt: isoTime(running.startedAt) },
    lastFailure: lastFailure && { ...lastFailure, at: isoTime(lastFailure.at) },
    last: viewOfLast(newer(readLastBackup(ctx.config.dataDir), files[0])),
    lastDrill: null,
  }
}

/** The newest backup, wherever it went; null if there was none. */
export async function lastBackup(ctx: Context): Promise<LastBackup | null> {
  const at = await newestBackupAt(ctx)
  return newer(readLastBackup(ctx.config.dataDir), at === null ? undefined : { createdAt: at })
}

/** Of versions before, only the files say when. */
const newer = (noted: LastBackup | null, file: { createdAt: number } | undefined): LastBackup | null =>
  file === undefined || (noted !== null && noted.at >= file.createdAt)
    ? noted
    : { at: file.createdAt, how: 'schedule', by: null }

const viewOfLast = (last: LastBackup | null) => last && { ...last, at: isoTime(last.at) }

/**
 * Makes a backup now, or joins one that is being made. Undefined when it takes longer than a request may wait. Throws
 * 409 when backups are not set up.
 */
export async function makeBackup(ctx: Context, grant: Grant): Promise<BackupView | undefined> {
  const place = placeOf(ctx)
  if (place === null)
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
    const by = 'user' in grant.actor ? grant.actor.user.email : null
    const made = await Promise.race([start(ctx, place, { how: 'page', by }), late.promise])
    return made && toView(made)
  } catch (error) {
    throw new AppError('internal', `The backup failed: ${messageOf(error)}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

/** Logs at the start that backups will fail: the first one may be due only much later. */
export async function tellOfBadPlace(ctx: Context): Promise<void> {
  const place = placeOf(ctx)
  if (place === null) return
  const warning = place.isLocal ? null : storeWarning(ctx.config)
  if (warning !== null) ctx.log.warn(warning)
  try {
    place.prepare()
    if (!place.isLocal) await filesAt(ctx, place)
  } catch (error) {
    const what = place.isLocal
      ? 'cannot be written: there will be no backups'
      : 'cannot be listed: backups may fail'
    ctx.log.error(`BACKUP_DIR ${what}`, { reason: messageOf(error) })
  }
}

/** Makes a backup if none was made within the interval and a place is set. Always removes leftovers. */
export async function makeBackupWhenDue(ctx: Context): Promise<void> {
  const { backupEveryHours, dataDir } = ctx.config
  await removeLocalLeftovers(dataDir, ctx.now())
  const place = placeOf(ctx)
  if (place === null) return
  if (place.isLocal) await place.removeLeftovers(ctx.now())
  const { lastFailure } = stateOf(ctx)
  if (lastFailure !== null && isRecent(lastFailure.at, ctx.now(), RETRY_MS)) return
  // A backup that fails tells why the place cannot be listed.
  const files = await filesAt(ctx, place).catch(() => stateOf(ctx).known ?? [])
  const isFresh = files.some(({ createdAt }) => isRecent(createdAt, ctx.now(), backupEveryHours * HOUR_MS))
  if (!isFresh) await start(ctx, place, { how: 'schedule', by: null })
}

/** Newest first. */
async function filesAt(ctx: Context, place: BackupPlace): Promise<BackupFile[]> {
  const files = newestFirst(await place.list(), ctx.now())
  stateOf(ctx).known = files
  return files
}

/** Stops a backup that is being made and removes what it wrote. */
export async function stopBackups(ctx: Context): Promise<void> {
  const { running, download } = stateOf(ctx)
  download?.stop()
  running?.process.kill()
  await running?.result.catch(() => {})
}

/** When the newest backup was made; null if there is none. A store is asked once, and then with each round of upkeep. */
export async function newestBackupAt(ctx: Context): Promise<number | null> {
  const place = placeOf(ctx)
  if (place === null) return null
  const state = stateOf(ctx)
  if (place.isLocal || state.known === null)
    state.known = await filesAt(ctx, place).catch(() => state.known ?? [])
  return state.known[0]?.createdAt ?? null
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

type Made = { how: BackupWay; by: string | null }

function start(ctx: Context, place: BackupPlace, made: Made): Promise<BackupFile> {
  const state = stateOf(ctx)
  if (state.running !== null) return state.running.result
  const startedAt = ctx.now()
  const name = backupName(startedAt)
  const process = startProcess(ctx, state, place, name)
  const result = finish(ctx, state, place, { name, createdAt: startedAt, ...made }, process)
  // Whoever awaits the result gets the failure, but it may be that nobody does.
  result.catch(() => {})
  state.running = { startedAt, process, result }
  return result
}

function startProcess(ctx: Context, state: State, place: BackupPlace, name: string): BackupProcess {
  try {
    refuseMoved(ctx.db.file)
    place.prepare()
    return spawnBackup(resolve(ctx.config.dataDir), place.target(name), storeEnv(ctx.config))
  } catch (error) {
    throw failed(ctx, state, error)
  }
}

async function finish(
  ctx: Context,
  state: State,
  place: BackupPlace,
  { name, createdAt, how, by }: Made & { name: string; createdAt: number },
  process: BackupProcess,
): Promise<BackupFile> {
  try {
    await process.done
    state.known = [{ name, createdAt, sizeBytes: 0 }, ...(state.known ?? [])]
    const files = await filesAt(ctx, place)
    const made = files.find((file) => file.name === name)
    if (made === undefined) throw new Error(`${name} is not in ${ctx.config.backupDir?.text}`)
    state.lastFailure = null
    writeLastBackup(ctx.config.dataDir, { at: createdAt, how, by })
    for (const old of files.slice(ctx.config.backupKeep)) await place.remove(old.name)
    if (!place.isLocal) await endLeftUploads(ctx, place)
    state.known = files.slice(0, ctx.config.backupKeep)
    ctx.log.info('backup written', { name, sizeBytes: made.sizeBytes })
    return made
  } catch (error) {
    throw failed(ctx, state, error)
  } finally {
    state.running = null
  }
}

/** A backup is good without this, and its key may lack the right. */
const endLeftUploads = (ctx: Context, place: BackupPlace): Promise<void> =>
  place.removeLeftovers(ctx.now()).catch((error: unknown) => {
    ctx.log.warn('uploads that killed backups left could not be ended', { reason: messageOf(error) })
  })

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
