import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { isCopy } from '../platform/copy-of-store.ts'
import { enterDataDir, findUnusable } from '../platform/data-dir.ts'
import { lockDataDir } from '../platform/instance-lock.ts'
import { newSecretKey } from '../platform/secret-keys.ts'
import { VERSION } from '../release-info.ts'
import { openContext } from '../server/open-context.ts'
import { CommandFailure, type Io } from './command.ts'

/** Runs `work` on the data directory, with or without a running server. A refusal becomes exit code 1. */
export async function onDataDir<T>(
  config: Config,
  io: Io,
  work: (ctx: Context) => Promise<T> | T,
): Promise<T> {
  enterOwn(config)
  await forgetCopy(config)
  const beforeMigrating = () => refuseBesideOlder(config)
  const quiet: Config = { ...config, logLevel: 'error', secretKey: config.secretKey ?? keyOfNobody(config) }
  const { ctx, close } = await openContext(quiet, VERSION, io.stderr.write, { beforeMigrating })
  try {
    return await work(ctx)
  } catch (error) {
    if (error instanceof AppError) throw new CommandFailure(error.message, undefined, { cause: error })
    throw error
  } finally {
    close()
    await forgetCopy(config)
  }
}

/**
 * Without its server this process may be the last that closes the database of a copy, and SQLite copies then into the file what
 * is not in the object store: the next start takes another file.
 */
async function forgetCopy({ dataDir }: Config): Promise<void> {
  const lock = isCopy(dataDir) ? lockDataDir(dataDir) : undefined
  if (lock === undefined) return
  const { readMarker, writeMarker } = await import('../db/replication/marker.ts')
  const marker = readMarker(dataDir)
  if (marker !== null) await writeMarker(dataDir, { ...marker, number: 0 })
  lock.release()
}

/** Refuses before anything is changed if this user may not use what is there. */
export function enterOwn({ dataDir }: Config): void {
  enterDataDir(dataDir)
  const unusable = findUnusable(dataDir)
  if (unusable !== undefined) throw new CommandFailure(unusable)
}

/**
 * A database without `secret.key` belongs to a server that gets SECRET_KEY, which the operator's shell may lack. No command
 * seals anything, and a new key file beside the database would be mistaken for the right one.
 */
const keyOfNobody = (config: Config): string | null =>
  hasDatabase(config) && !existsSync(join(config.dataDir, 'secret.key')) ? newSecretKey() : null

/** A running server expects the database as it is: only a server's start may migrate it. */
function refuseBesideOlder({ dataDir }: Config): void {
  const lock = lockDataDir(dataDir)
  if (lock === undefined)
    throw new CommandFailure(
      `an older svc serves ${dataDir}, whose database this one would change; restart that server with this version first`,
    )
  lock.release()
}

export const hasDatabase = ({ dataDir }: Config): boolean => existsSync(join(dataDir, 'svc.db'))

/** For read-only commands: a directory without a database is a mistake, not a new installation. */
export function requireDatabase(config: Config): void {
  try {
    statSync(join(config.dataDir, 'svc.db'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EACCES')
      throw new CommandFailure(
        `${config.dataDir} may not be read by this user (EACCES); run it as the user of the server`,
      )
    throw new CommandFailure(
      `there is no svc.db in ${config.dataDir}; name the data directory with --data-dir`,
    )
  }
}
