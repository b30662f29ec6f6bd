import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'

/**
 * Throws if the data directory has contents, but the database that lists them is missing or empty. A new database would
 * know none of them, and they would all be deleted as leftovers of a crash. A remaining `svc.db-wal` is of no use:
 * SQLite discards it if its database is empty.
 */
export function refuseLostDatabase(dataDir: string): void {
  if (sizeOf(join(dataDir, 'svc.db')) === 0) refuseNewDatabase(dataDir)
}

/** The same for a database that turned out to be new. */
export function refuseNewDatabase(dataDir: string): void {
  if (!hasContents(dataDir)) return
  throw new DataDirError(
    `${join(dataDir, 'svc.db')} is missing or empty, but ${join(dataDir, 'blobs')} holds contents: restore a backup into a new data directory`,
    { damaged: 'database' },
  )
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function hasContents(dataDir: string): boolean {
  const isFilled = (folder: string) => {
    try {
      return readdirSync(join(dataDir, 'blobs', folder)).length > 0
    } catch {
      return false
    }
  }
  return isFilled('packs') || isFilled('files')
}
