import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { AppError } from '../domain/errors.ts'
import { openContext } from '../open-context.ts'
import { CommandFailure, type Io } from './command.ts'
import { VERSION } from './version.ts'

/** Runs `work` on the data directory, beside a running server or without one. What is refused becomes exit code 1. */
export async function onDataDir<T>(
  config: Config,
  io: Io,
  work: (ctx: Context) => Promise<T> | T,
): Promise<T> {
  const { ctx, close } = await openContext({ ...config, logLevel: 'error' }, VERSION, io.stderr.write)
  try {
    return await work(ctx)
  } catch (error) {
    if (error instanceof AppError) throw new CommandFailure(error.message, undefined, { cause: error })
    throw error
  } finally {
    close()
  }
}

/** For commands that only look: a directory without a database is a mistake, not a new one. */
export function requireDatabase(config: Config): void {
  if (!existsSync(join(config.dataDir, 'svc.db')))
    throw new CommandFailure(
      `there is no svc.db in ${config.dataDir}; name the data directory with --data-dir`,
    )
}
