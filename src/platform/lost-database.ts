import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DataDirError } from '../domain/data-dir-error.ts'

/**
 * Throws where contents lie in the data directory and the database that names them is gone or empty. A new database
 * would know none of them, and all of them would be cleared away as what a crash left.
 */
export function refuseLostDatabase(dataDir: string): void {
  const database = join(dataDir, 'svc.db')
  // Rows may still be in the log alone.
  if (sizeOf(database) > 0 || sizeOf(`${database}-wal`) > 0 || !hasContents(dataDir)) return
  throw new DataDirError(
    `${database} is gone or empty, but ${join(dataDir, 'blobs')} holds contents: restore a backup into a new data directory`,
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
