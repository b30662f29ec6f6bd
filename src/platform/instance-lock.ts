import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'
import { messageOf } from '../domain/errors.ts'
import { handOverNew } from './owner.ts'

export const LOCK_FILE = 'serve.lock'

/**
 * Ensures that only one server uses a data directory. It is SQLite's lock on a separate file, so it ends with the
 * process in any case. Undefined if somebody else holds it.
 */
export function lockDataDir(dataDir: string): { release(): void } | undefined {
  const path = join(dataDir, LOCK_FILE)
  let file: Database | undefined
  try {
    file = handOverNew(path, () => new Database(path, { create: true }))
    file.run('PRAGMA locking_mode = EXCLUSIVE')
    file.run('BEGIN EXCLUSIVE')
  } catch (error) {
    file?.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined
    throw new DataDirError(`${path} cannot be locked: ${messageOf(error)}`, { cause: error })
  }
  const held = file
  return { release: () => held.close() }
}
