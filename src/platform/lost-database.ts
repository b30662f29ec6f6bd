import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'

/**
 * Throws where contents lie in the data directory and the database that names them is gone or empty. A new database
 * would know none of them, and all of them would be cleared away as what a crash left. A log (`svc.db-wal`) that is left
 * is of no use: SQLite throws it away where its database is empty.
 */
export function refuseLostDatabase(dataDir: string): void {
  if (sizeOf(join(dataDir, 'svc.db')) === 0) refuseNewDatabase(dataDir)
}

/** The same for a database that was found to be a new one. */
export function refuseNewDatabase(dataDir: string): void {
  if (!hasContents(dataDir)) return
  throw new DataDirError(
    `${join(dataDir, 'svc.db')} is gone or empty, but ${join(dataDir, 'blobs')} holds contents: restore a backup into a new data directory`,
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
